"""Makes the README's moving picture anew: ``python tests/web/moving_picture.py``.

One duel of ``referee demo`` on the board, go, build, Stop and verdict in some ten seconds. Beside it stands the hash of
the board that it shows (``board_picture``), so that a test notices when it shows a board that is no more.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from board_picture import HASH
from browser import PROJECTOR, chromium
from PIL import Image
from playwright.sync_api import Page

from referee.web.i18n.texts import translate

MOVING = HASH.with_name("duel.webp")
MADE_OF = HASH.with_name("duel.sha256")
COMMAND = "python tests/web/moving_picture.py"
DEMO = [sys.executable, "-m", "referee", "demo", "--no-browser", "--port", "0", "--seed", "11"]
BUILD, DECIDED = (translate("en", f"phase.{phase}") for phase in ("building", "decided"))
SIZE, QUALITY = (960, 540), 50
FRAME_MS, LAST_MS = 280, 2500
BUILDING, BEFORE, AFTER = 16, 6, 10
"""Pictures of the building, which takes longest, of what is before it, and of what follows."""


def looks(page: Page) -> list[tuple[str, Image.Image]]:
    """What the board shows, with its phase, until the verdict has stood for a while."""
    seen, decided_s = [], None
    while decided_s is None or time.monotonic() - decided_s < 3.0:
        picture = Image.open(io.BytesIO(page.screenshot(type="jpeg", quality=90))).convert("RGB")
        phase = page.locator(".phase").first.text_content() or ""
        seen.append((phase.strip(), picture.resize(SIZE, Image.Resampling.LANCZOS)))
        if phase.strip() == DECIDED:
            decided_s = decided_s or time.monotonic()
        time.sleep(0.15)
    return seen


def chosen(seen: list[tuple[str, Image.Image]]) -> list[Image.Image]:
    """Some of them, evenly: the last before the go, the building, and all that follows."""
    phases = [phase for phase, _ in seen]
    go, stop = phases.index(BUILD), len(phases) - phases[::-1].index(BUILD)
    parts = [seen[max(0, go - BEFORE) : go], _evenly(seen[go:stop], BUILDING), _evenly(seen[stop:], AFTER)]
    return [picture for part in parts for _, picture in part]


def _evenly(seen: list, most: int) -> list:
    return [seen[i * len(seen) // most] for i in range(most)] if len(seen) > most else seen


def main() -> None:
    """Play a duel and write the picture."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        demo = subprocess.Popen([*DEMO, "--data-dir", folder], stdout=subprocess.PIPE, text=True)
        try:
            url = next(found[1] for line in demo.stdout if (found := re.search(r"board: (http\S+)", line)))
            page = browser.new_context(viewport=PROJECTOR, locale="en-GB", color_scheme="light").new_page()
            page.goto(url)
            first, *rest = chosen(looks(page))
        finally:
            demo.kill()
            demo.communicate()
    times = [FRAME_MS] * len(rest) + [LAST_MS]
    first.save(MOVING, save_all=True, append_images=rest, duration=times, loop=0, quality=QUALITY, method=6)
    MADE_OF.write_text(HASH.read_text(encoding="utf-8"), encoding="utf-8")
    print(f"{MOVING.name}: {MOVING.stat().st_size >> 10} kB, {sum(times) / 1000:.1f} s")


if __name__ == "__main__":
    main()
