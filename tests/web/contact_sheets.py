"""Contact sheets of the board: ``python tests/web/contact_sheets.py [FOLDER] [PREFIX]``.

Every scene of the board (and whatever else begins with PREFIX) in both languages, light and dark, on a projector, a
laptop and a phone; a sheet per width and look, for somebody to look at.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import cv2
import numpy as np
from browser import chromium
from fake_session import FakeSession
from looks import LANGUAGES, SCHEMES, SIZES, looks
from playwright.sync_api import Page
from scenes import SCENES, Scene

from referee.web.app import create_app
from referee.web.server import Server

CELL_PX = {1920: 640, 1366: 640, 390: 300}
COLUMNS = {1920: 3, 1366: 3, 390: 7}


def shoot(page: Page, scene: Scene, folder: Path) -> None:
    """One scene in every look."""
    session = FakeSession()
    scene.prepare(session)
    pin = "1" if scene.path == "/login" else None
    server = Server(create_app(session, pin, choices=session.choices), "127.0.0.1", 0)
    try:
        for look in looks(page, server.url.rstrip("/") + scene.path):
            page.screenshot(path=folder / f"{look}-{scene.name}.jpg", type="jpeg", full_page=look.width < 1000)
    finally:
        page.goto("about:blank")
        server.close()


def sheet(folder: Path, width: int, lang: str, scheme: str) -> Path:
    """All scenes of one look in one picture, as wide as a screen."""
    shots = sorted(folder.glob(f"{width}-{lang}-{scheme}-*.jpg"))
    cells = [_cell(path, CELL_PX[width]) for path in shots]
    rows = [cells[i : i + COLUMNS[width]] for i in range(0, len(cells), COLUMNS[width])]
    out = folder / f"sheet-{width}-{lang}-{scheme}.jpg"
    cv2.imwrite(str(out), np.vstack([_row(row, COLUMNS[width]) for row in rows]))
    return out


def _cell(path: Path, width: int) -> np.ndarray:
    """The shot at that width under its name."""
    image = cv2.imread(str(path))
    small = cv2.resize(image, (width, round(image.shape[0] * width / image.shape[1])), interpolation=cv2.INTER_AREA)
    head = np.full((22, width, 3), 40, np.uint8)
    cv2.putText(head, path.stem.split("-", 3)[3], (6, 16), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (255, 255, 255), 1)
    return np.vstack([head, small])


def _row(cells: list[np.ndarray], columns: int) -> np.ndarray:
    tall, wide = max(c.shape[0] for c in cells), cells[0].shape[1]
    padded = [np.pad(c, ((0, tall - c.shape[0]), (0, 8), (0, 0)), constant_values=90) for c in cells]
    blank = np.full((tall, wide + 8, 3), 90, np.uint8)
    return np.hstack(padded + [blank] * (columns - len(cells)))


def main(folder: str = "build/contact-sheets", prefix: str = "board") -> None:
    """All scenes that begin so."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        page = browser.new_context(reduced_motion="reduce").new_page()
        for scene in SCENES:
            if scene.name.startswith(prefix):
                shoot(page, scene, target)
    for width, lang, scheme in product(SIZES, LANGUAGES, SCHEMES):
        print(sheet(target, width, lang, scheme))


if __name__ == "__main__":
    main(*sys.argv[1:])
