"""The printed decks and plans: every card is there, its marker reads, and all is true to size."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import cv2
import numpy as np
import pypdfium2
import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))

from playing import faces

from calibration import markers as mats
from calibration import mat
from calibration.game_sheets import (
    CARD_MM,
    DICTIONARY,
    MARKER_MM,
    SITE_MM,
    faces_pdf,
    plans_pdf,
    site_centre,
)
from cards.errors import BadCard
from referee.cli import cli
from referee.games.catalogue import GAMES

PX_PER_MM = 8.0


def pages(data: bytes) -> list[np.ndarray]:
    """Every page in grey, PX_PER_MM."""
    document = pypdfium2.PdfDocument(data)
    try:
        return [page.render(scale=PX_PER_MM * 25.4 / 72, grayscale=True).to_numpy().squeeze() for page in document]
    finally:
        document.close()


def markers(page: np.ndarray, dictionary: int) -> dict[int, np.ndarray] | list:
    """(id, corners in mm) of the markers on a page."""
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(dictionary), cv2.aruco.DetectorParameters())
    corners, ids, _ = detector.detectMarkers(page)
    return [(int(i), c[0] / PX_PER_MM) for i, c in zip(() if ids is None else ids.ravel(), corners, strict=True)]


@pytest.mark.parametrize(
    ("game", "cards"),
    [("city_towers", 45), ("quarters_and_currencies", 164), ("nine_sum_towers", 54), ("tower_bets", 60 + 30 + 4 + 5)],
)
def test_a_deck_has_every_card_of_the_box_and_each_kind_its_marker(game, cards):
    found = faces(game)
    assert len(found) == cards == sum(count for _, count in GAMES[game].printed())
    kinds = Counter(face.marker for face in found)
    assert max(kinds) == len(kinds) - 1 < 250
    assert len({(f.title, f.caption, f.color, f.symbol) for f in found}) == len(kinds)


@pytest.mark.parametrize("paper", ["a4", "letter"])
def test_the_markers_on_a_page_read_and_are_true_to_size(paper):
    deck = faces("city_towers")
    sheets = pages(faces_pdf("deck", deck, paper))
    assert len(sheets) == 10 and not any(markers(back, DICTIONARY) for back in sheets[1::2])
    read = []
    for sheet in sheets[::2]:
        for marker, corners in markers(sheet, DICTIONARY):
            read.append(marker)
            sides = np.linalg.norm(corners - np.roll(corners, 1, 0), axis=1)
            assert np.allclose(sides, MARKER_MM, atol=0.4)
    assert Counter(read) == Counter(face.marker for face in deck)


def test_cards_lie_side_by_side_at_their_size():
    found = markers(pages(faces_pdf("deck", faces("tower_bets")[:9]))[0], DICTIONARY)
    centres = np.array(sorted(corners.mean(0).round(1).tolist() for _, corners in found))
    assert np.allclose(np.diff(np.unique(centres[:, 0].round())), CARD_MM[0], atol=0.6)
    assert np.allclose(np.diff(np.unique(centres[:, 1].round())), CARD_MM[1], atol=0.6)


def test_six_plans_are_mats_to_the_camera_and_their_sites_lie_in_the_field():
    sheets = pages(plans_pdf())
    assert len(sheets) == 6
    for city, sheet in enumerate(sheets):
        wanted = {mats.marker_id("ABCDEF"[city], k) for k in range(4)}
        assert {marker for marker, _ in markers(sheet, mats.DICTIONARY)} == wanted
    edge = [abs(v) + SITE_MM / 2 for site in range(1, 10) for v in site_centre(site)]
    assert max(edge) <= mat.FIELD[1] + 1e-9 and site_centre(5) == (0.0, 0.0)
    assert site_centre(1)[0] < 0 < site_centre(1)[1]


def test_plans_need_a4():
    with pytest.raises(BadCard, match="A4"):
        plans_pdf("letter")


@pytest.mark.parametrize("name", [*GAMES, "plans"])
def test_the_command_writes_every_sheet(name, tmp_path):
    done = CliRunner().invoke(cli, ["print", "game", name, "-o", str(tmp_path / "sheet.pdf"), "--lang", "de"])
    assert done.exit_code == 0 and "print at 100 %" in done.output
    assert (tmp_path / "sheet.pdf").read_bytes().startswith(b"%PDF")
