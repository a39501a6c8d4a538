"""Makes the pictures of referee/vision/README.md anew: ``python tests/vision/step_pictures.py``.

They are the steps of one golden frame's zone. Beside them stands a hash of what they were made from: the session's
files, the module that draws, and what was understood. Pixels are not hashed: they differ from machine to machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from cards.deck import load_deck
from referee.benchmark.stress import observer_of, session_inputs
from referee.vision.image.files import read_picture
from referee.vision.observer import Judgement, ZoneStudy
from referee.vision.steps import step_pictures

ROOT = Path(__file__).parents[2]
README = ROOT / "referee" / "vision" / "README.md"
PICTURES = README.with_name("pictures")
HASH = PICTURES / "made_from.sha256"
SESSION = ROOT / "referee" / "example" / "sessions" / "challenge"
IMAGE, CARD, ZONE = "duel_03.jpg", "L03", "A"
COMMAND = "python tests/vision/step_pictures.py"
WIDE_PX, QUALITY = 1100, 82
"""Of the pictures: no wider than that, and so good that all together stay below 400 kB."""


def judged() -> tuple[np.ndarray, Judgement, list[ZoneStudy]]:
    """The frame (h, w, 3) BGR, what is said of it, and what the zone's verdict was worked out from."""
    frame, studies = read_picture(SESSION / IMAGE), []
    card = load_deck(SESSION / "deck.json").card(CARD)
    return frame, observer_of(session_inputs(SESSION)).judge([frame], card, [ZONE], studied=studies.append), studies


def made_from(judgement: Judgement) -> str:
    """The hash of what the pictures show and of what draws them."""
    files = [README.with_name("steps.py"), *sorted(SESSION.glob("*.*"))]
    build = [(p.shape, p.color, p.pose.rotation, p.pose.facing) for p in judgement.views[ZONE].build.pieces]
    understood = [judgement.zones[ZONE].ruling, [r.code for r in judgement.zones[ZONE].reasons], build]
    parts = [file.read_bytes() for file in files if file.suffix != ".md"]
    return hashlib.sha256(b"".join([*parts, json.dumps(understood).encode()])).hexdigest()


def pictures(frame: np.ndarray, judgement: Judgement, studies: list[ZoneStudy]) -> Iterator[tuple[str, bytes]]:
    """Names and WebP files of the README's pictures of what was ``judged``."""
    card = load_deck(SESSION / "deck.json").card(CARD)
    for name, picture in step_pictures(frame, judgement, studies, card):
        factor = min(1.0, WIDE_PX / picture.shape[1])
        small = cv2.resize(picture, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        yield (
            f"{name.removesuffix(f'_{ZONE}')}.webp",
            cv2.imencode(".webp", small, [cv2.IMWRITE_WEBP_QUALITY, QUALITY])[1].tobytes(),
        )


def main() -> None:
    """Write the pictures and the hash."""
    for old in PICTURES.glob("*.webp"):
        old.unlink()
    of = judged()
    for name, data in pictures(*of):
        (PICTURES / name).write_bytes(data)
        print(f"{name}: {len(data) >> 10} kB")
    HASH.write_text(f"{made_from(of[1])}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
