"""Makes the README's still pictures anew, of the rig, board, console and phone: ``python tests/web/board_picture.py``.

The board of this version, in a browser, over a match that is always the same: players, card, builds, clock and
camera picture are fixed, the real observer judges. Beside the picture stands a hash of what the board says and where
(``layout``), so that a test notices when the picture shows a board that is no more. Pixels are not hashed: they differ
from machine to machine. Boxes are rounded to ``GRID_PX``; they are the same wherever the same fonts are installed
(DejaVu, from ``.ci/apt-packages.txt``) and change with the fonts.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "session"))

from browser import PHONE, PROJECTOR, chromium
from fake_session import FakeSession, StillClock
from playwright.sync_api import Browser
from scenes import building
from staged import DECK, Rig, Stage, rig

from referee.match.commands import CameraVerdict
from referee.match.verdict import zone_verdict
from referee.session.field_previews import crop_around_build, crop_around_zones
from referee.simulator.meshes import place_piece
from referee.vision.observer import Judgement
from referee.vision.overlay import with_marks
from referee.web.app import create_app
from referee.web.server import Server

PICTURE = Path(__file__).parents[1] / "golden" / "board.jpg"
HASH = PICTURE.with_name("board.sha256")
COMMAND = "python tests/web/board_picture.py"
SEED, SEATING, CARD = 7, "beside", "L38"
QUALITY = 70
"""Of the JPEG: the picture stays below 200 kB."""

RIG_PX, LAPTOP, SETTLED_MS = (960, 540), {"width": 1366, "height": 768}, 1500

GRID_PX = 4
SCALE_MM = 10
"""Build and card are shown at one scale in steps of this: what the observer measures may differ by less."""

SHOWN = """document.fonts.ready.then(() =>
  Promise.all([...document.querySelectorAll("img[src]")].map((image) => image.decode())))"""
"""Waits until everything on the page is drawn."""

BOXES = """(grid) => {
  const rows = [], range = document.createRange(), at = (n) => Math.round(n / grid);
  const row = (what, r) => r.width && r.height && rows.push([what, at(r.x), at(r.y), at(r.width), at(r.height)]);
  for (const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); walk.nextNode();) {
    const text = walk.currentNode.data.trim();
    range.selectNode(walk.currentNode);
    if (text && walk.currentNode.parentElement.checkVisibility()) row(text, range.getBoundingClientRect());
  }
  for (const shape of document.querySelectorAll("main section, main figure, main img, main svg"))
    row(shape.tagName, shape.getBoundingClientRect());
  return rows;
}"""


class JudgedSession(FakeSession):
    """The false Stop of a builder whose triangle stands on the bridge and not on the cylinder."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = StillClock()
        self.frame, self.judgement = judged(rig(SEED, SEATING))
        building(self, CARD)
        self.press("A")
        said = self.judgement.zones["A"].to_json()
        self.command(CameraVerdict("A", zone_verdict(said)))

    def picture(self, name: str) -> bytes:
        """What was judged, with the marks: both fields, or for ``build/…`` that build alone."""
        drawn = with_marks(self.frame, self.judgement, None)
        left, top, right, bottom = crop_around_zones(self.judgement, drawn.shape[:2])
        if name.startswith("build/"):
            (left, top, right, bottom), _ = self._cut()
        return cv2.imencode(".jpg", drawn[top:bottom, left:right], [cv2.IMWRITE_JPEG_QUALITY, 95])[1].tobytes()

    def _cut(self):
        return crop_around_build(self.judgement, "A", self.frame.shape[:2])

    def _builds(self) -> dict:
        width, height = (SCALE_MM * round(mm / SCALE_MM) for mm in self._cut()[1])
        return {"A": {"src": f"/media/build/{self.state.duel.number}/A.jpg", "width": width, "height": height}}


def judged(at: Rig) -> tuple[np.ndarray, Judgement]:
    """The frame (h, w, 3) BGR after the Stop, and what the observer says of it."""
    stage = Stage(at, DECK.by_id[CARD])
    top, bridge = stage.card.pieces[-1], stage.card.pieces[3]
    height = at.table.piece_set.shapes[top.shape].size(top.pose)[2]
    stands = bridge.z + at.table.piece_set.shapes[bridge.shape].size(bridge.pose)[2] / 2 + height / 2
    build = [place_piece(p) for p in (*stage.card.pieces[:-1], top.at(x=bridge.x + 16, z=stands))]
    frame = at.picture(stage.world(build), 1)
    return frame, at.observer.judge([frame], stage.card, ("A",))


def board(browser: Browser, take: Path | None = None) -> list[list]:
    """Every text and picture of the board with its box in steps of ``GRID_PX``; its picture is written to ``take``."""
    server = Server(create_app(JudgedSession()), "127.0.0.1", 0)
    context = browser.new_context(viewport=PROJECTOR, locale="en-GB", color_scheme="light", reduced_motion="reduce")
    try:
        page = context.new_page()
        page.goto(server.url)
        page.evaluate(SHOWN)
        if take:
            page.screenshot(path=take, type="jpeg", quality=QUALITY)
        return page.evaluate(BOXES, GRID_PX)
    finally:
        context.close()
        server.close()


def take_others(browser: Browser) -> None:
    """Write what the camera saw, the console on a laptop and the board on a phone, beside the board's picture."""
    session = JudgedSession()
    small = cv2.resize(session.frame, RIG_PX, interpolation=cv2.INTER_AREA)
    cv2.imwrite(str(PICTURE.with_name("rig.jpg")), small, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    server = Server(create_app(session), "127.0.0.1", 0)
    try:
        for name, path, size in (("console", "referee", LAPTOP), ("phone", "", PHONE)):
            page = browser.new_context(viewport=size, locale="en-GB", reduced_motion="reduce").new_page()
            page.goto(server.url + path)
            page.wait_for_timeout(SETTLED_MS)  # pictures in closed dialogs are never drawn
            page.screenshot(path=PICTURE.with_name(f"{name}.jpg"), type="jpeg", quality=QUALITY)
            page.context.close()
    finally:
        server.close()


def layout(rows: list[list]) -> str:
    """The hash of the board's texts and boxes."""
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode()).hexdigest()


def main() -> None:
    """Write the pictures and the board's hash."""
    with chromium() as browser:
        take_others(browser)
        HASH.write_text(f"{layout(board(browser, PICTURE))}\n", encoding="utf-8")
    print(f"{PICTURE.name}: {PICTURE.stat().st_size >> 10} kB")


if __name__ == "__main__":
    main()
