"""The PDF sheets, rasterised at 150 dpi: markers read back, sizes hold to 0.3 mm."""

from pathlib import Path

import cv2
import numpy as np
import pypdfium2
import pytest
from click.testing import CliRunner

from calibration import lens, markers, mat
from calibration.print_sheets import PAPERS, RULER_MM, Sheets, cards_pdf, charuco_pdf, colors_pdf, mats_pdf, set_apart
from cards.deck import builtin_deck
from cards.drawing import CARD_MM, MARKER_MM, MARKER_TOP_MM
from cards.errors import BadCard
from cards.pieces import builtin_piece_set
from referee.commands.printing import print_
from referee.web.i18n.texts import translate

DPI = 150
PX_PER_MM = DPI / 25.4
TOLERANCE_MM = 0.3
PIECES = builtin_piece_set()


def pages(pdf, only=None):
    document = pypdfium2.PdfDocument(pdf)
    for n in range(len(document)) if only is None else only:
        yield np.array(document[n].render(scale=DPI / 72, grayscale=True).to_numpy()).squeeze()
    document.close()


def markers_mm(gray, dictionary=markers.DICTIONARY):
    """id -> (4, 2) mm from the page's upper left corner, y downwards."""
    codes = cv2.aruco.getPredefinedDictionary(dictionary)
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    corners, ids, _ = cv2.aruco.ArucoDetector(codes, parameters).detectMarkers(gray)
    assert ids is not None, "no marker on the page"
    return {int(i): (quad[0] + 0.5) / PX_PER_MM for i, quad in zip(ids.ravel(), corners, strict=True)}


def far(points, expected):
    return np.abs(np.asarray(points) - expected).max()


def test_all_twelve_mats_have_the_contracts_geometry():
    for zone, gray in zip(markers.ZONES, pages(mats_pdf(markers.ZONES)), strict=True):
        found = markers_mm(gray)
        assert sorted(found) == [markers.marker_id(zone, k) for k in range(4)]
        for k in range(4):
            expected = markers.marker_corners(k) * (1, -1) + np.array(mat.SHEET) / 2
            assert far(found[markers.marker_id(zone, k)], expected) < TOLERANCE_MM


def test_the_field_and_its_line_are_where_the_contract_says():
    gray = next(pages(mats_pdf("A")))
    centre = np.array(mat.SHEET) / 2
    for y in (-mat.FIELD[1], 0.0, mat.FIELD[1]):
        assert abs(_dark_row(gray, centre[0] + 40, centre[1] - y) - (centre[1] - y)) < TOLERANCE_MM
    for x in (-mat.FIELD[0], mat.FIELD[0]):
        assert abs(_dark_row(gray.T, centre[1] + 20, centre[0] + x) - (centre[0] + x)) < TOLERANCE_MM


def _dark_row(gray, column_mm, near_mm):
    """Where along a column the ink near a height lies, mm."""
    column = 255.0 - gray[:, round(column_mm * PX_PER_MM)]
    rows = np.arange(round((near_mm - 3) * PX_PER_MM), round((near_mm + 3) * PX_PER_MM))
    assert column[rows].sum() > 50
    return float((column[rows] * (rows + 0.5)).sum() / column[rows].sum() / PX_PER_MM)


def test_a_mat_on_letter_is_two_halves_that_join_at_the_middle():
    left, right = (markers_mm(g) for g in pages(mats_pdf("B", "letter")))
    assert sorted(left) == [4, 7] and sorted(right) == [5, 6]
    assert abs(left[4][0, 1] - right[5][0, 1]) < TOLERANCE_MM
    width, half = PAPERS["letter"][0], mat.SHEET[0] / 2
    joined = right[5] - (width - half - 10, 0) + (half + 10, 0)
    assert abs((joined[0, 0] - left[4][0, 0]) - 242.0) < TOLERANCE_MM


@pytest.mark.slow
@pytest.mark.parametrize("paper", list(PAPERS))
def test_all_eighty_cards_read_back_on_both_faces(paper):
    deck = builtin_deck()
    width, height = PAPERS[paper]
    left, top = (width - 2 * CARD_MM[0]) / 2, (height - 2 * CARD_MM[1]) / 2
    faces = {}
    for n, gray in enumerate(pages(cards_pdf(deck, PIECES, paper))):
        found = markers_mm(gray)
        first = 50 + n // 2 * 4
        assert sorted(found) == list(range(first, first + 4)), f"page {n + 1}"
        for marker, quad in found.items():
            row, column = divmod(marker - first, 2)
            column = 1 - column if n % 2 else column
            corner = (left + (column + 0.5) * CARD_MM[0] - MARKER_MM / 2, top + row * CARD_MM[1] + MARKER_TOP_MM)
            square = np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * MARKER_MM + corner
            assert far(quad, square) < TOLERANCE_MM
            faces[marker] = faces.get(marker, 0) + 1
    assert faces == {50 + n: 2 for n in range(80)}


def test_a_back_is_its_front_with_the_columns_exchanged():
    front, back = (markers_mm(g) for g in pages(cards_pdf(builtin_deck(), PIECES), only=(0, 1)))
    width = PAPERS["a4"][0]
    for marker, quad in front.items():
        assert quad[:, 0].mean() + back[marker][:, 0].mean() == pytest.approx(width, abs=TOLERANCE_MM)


@pytest.mark.parametrize("paper", list(PAPERS))
def test_the_lens_board_is_read_at_its_size(paper):
    gray = next(pages(charuco_pdf(paper)))
    corners, ids, _, _ = cv2.aruco.CharucoDetector(lens.charuco_board()).detectBoard(gray)
    assert len(ids) == (lens.COLUMNS - 1) * (lens.ROWS - 1)
    seen = corners.reshape(-1, 2) / PX_PER_MM
    board = lens.charuco_board().getChessboardCorners()[ids.ravel(), :2]
    assert far(seen - seen[0], board - board[0]) < TOLERANCE_MM


@pytest.mark.parametrize(
    "make",
    [
        lambda p: mats_pdf("A", p),
        lambda p: colors_pdf(PIECES, p),
        charuco_pdf,
        lambda p: cards_pdf(builtin_deck(), PIECES, p),
    ],
)
@pytest.mark.parametrize("paper", list(PAPERS))
def test_the_ruler_is_a_hundred_millimetres(make, paper, monkeypatch):
    drawn = []
    monkeypatch.setattr(Sheets, "ruler", lambda self, x, y, note="": drawn.append((self, x, y)))
    make(paper)
    monkeypatch.undo()
    sheets = Sheets("ruler", paper)
    sheets.ruler(20, 20)
    gray = next(pages(sheets.pdf()))
    line = gray[round((PAPERS[paper][1] - 21.0) * PX_PER_MM)]
    ticks = np.flatnonzero(gray[round((PAPERS[paper][1] - 22.6) * PX_PER_MM)] < 230)
    assert drawn and line is not None
    assert abs((ticks.max() - ticks.min()) / PX_PER_MM - RULER_MM) < TOLERANCE_MM


@pytest.mark.parametrize("paper", list(PAPERS))
@pytest.mark.parametrize(
    "make", [lambda p: colors_pdf(PIECES, p), charuco_pdf, lambda p: cards_pdf(builtin_deck(), PIECES, p)]
)
def test_nothing_is_printed_where_printers_cannot(make, paper):
    assert _clear_mm(next(pages(make(paper), only=(0,)))) >= 6.0


@pytest.mark.parametrize("paper", list(PAPERS))
def test_of_a_mat_only_the_markers_come_nearer_to_the_edge(paper):
    gray = next(pages(mats_pdf("A", paper)))
    assert _clear_mm(gray) >= 5.4
    for quad in markers_mm(gray).values():
        left, low, right, high = (round(v * PX_PER_MM) for v in (*(quad.min(0) - 0.5), *(quad.max(0) + 0.5)))
        gray[low:high, left:right] = 255
    assert _clear_mm(gray) >= 6.0


def _clear_mm(gray):
    """Blank paper between the sheet's edge and its nearest ink, mm."""
    rows, columns = np.nonzero(gray < 200)
    edges = (rows.min(), columns.min(), gray.shape[0] - 1 - rows.max(), gray.shape[1] - 1 - columns.max())
    return float(min(edges)) / PX_PER_MM


def test_the_band_for_organ_pipes_is_dashed_on_the_mat():
    gray = next(pages(mats_pdf("A")))
    centre = np.array(mat.SHEET) / 2
    for x in (-140.0, 140.0):
        line = gray[:, round((centre[0] + x) * PX_PER_MM)]
        ink = (line < 235)[round((centre[1] - 50) * PX_PER_MM) : round((centre[1] + 50) * PX_PER_MM)]
        assert 0.35 < ink.mean() < 0.75 and np.count_nonzero(np.diff(ink.astype(int)) == 1) > 10


@pytest.mark.parametrize("name", ["challenge", "village"])
def test_the_colour_sheet_places_every_piece_apart_and_inside_the_field(name):
    pieces = builtin_piece_set(name)
    placed = set_apart(pieces)
    assert len(placed) == pieces.count
    boxes = [(x, y, *(v / 2 for v in shape.size(pose)[:2])) for shape, _, pose, x, y in placed]
    for n, (x, y, hx, hy) in enumerate(boxes):
        assert abs(x) + hx <= mat.FIELD[0] and abs(y) + hy <= mat.FIELD[1]
        for u, v, gx, gy in boxes[:n]:
            assert abs(x - u) - hx - gx >= 4 or abs(y - v) - hy - gy >= 0


@pytest.mark.parametrize("words", [["mats", "--zones", "ab"], ["colors"], ["charuco", "--paper", "letter"], ["cards"]])
def test_each_sheet_has_a_command(words, tmp_path):
    file = tmp_path / "sheet.pdf"
    result = CliRunner().invoke(print_, [*words, "-o", str(file)], catch_exceptions=False)
    assert result.exit_code == 0 and file.read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("words", "told"),
    [("mats", "2 pages; print"), ("charuco", "1 page; print"), ("cards", "40 pages on 20 sheets, both sides; print")],
)
def test_how_many_pages_and_sheets_it_takes_is_told_before_printing(words, told, tmp_path):
    file = tmp_path / "sheet.pdf"
    result = CliRunner().invoke(print_, [words, "-o", str(file)], catch_exceptions=False)
    assert result.output.startswith(f"{file}: {told}")
    assert int(told.split()[0]) == len(list(pypdfium2.PdfDocument(file.read_bytes())))


@pytest.mark.parametrize(
    ("words", "other", "name"),
    [
        (["scores"], ["--lang", "de"], "scores.html"),
        (["mats"], ["--zones", "C"], "mats.pdf"),
        (["game", "plans"], [], "plans.pdf"),
    ],
)
def test_a_print_never_replaces_a_file_of_other_content_unless_told_to(words, other, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text("mine")
    told = CliRunner().invoke(print_, words)
    assert str(told.exception) == f"{name} is there and holds something else: -o another name, or --force"
    assert Path(name).read_text() == "mine"
    for more in (["--force"], []):  # the same again replaces nothing
        assert CliRunner().invoke(print_, [*words, *more], catch_exceptions=False).exit_code == 0
    if other:
        assert "--force" in str(CliRunner().invoke(print_, [*words, *other]).exception)


def test_the_lens_board_says_what_to_do_with_it_in_the_reader_s_language(tmp_path):
    file = tmp_path / "board.pdf"
    CliRunner().invoke(print_, ["charuco", "--lang", "de", "-o", str(file)], catch_exceptions=False)
    text = pypdfium2.PdfDocument(file.read_bytes())[0].get_textpage().get_text_range()
    assert "Das Blatt auf etwas Ebenes kleben." in text


@pytest.mark.parametrize("lang", ["en", "de"])
def test_a_mat_has_title_rules_and_the_tongs_line_and_none_of_it_in_the_band_where_builds_stand(lang, tmp_path):
    file = tmp_path / "mats.pdf"
    CliRunner().invoke(print_, ["mats", "--zones", "A", "--lang", lang, "-o", str(file)], catch_exceptions=False)
    page = pypdfium2.PdfDocument(file.read_bytes())[0].get_textpage()
    for part in ("tongs", "edge", "title", "rule1", "rule2", "rule3"):
        text = translate(lang, f"print.mat.{part}")
        left, low, right, high = (v / 72 * 25.4 for v in _box(page, text))
        assert left > mat.SHEET[0] / 2 - 97 and right < mat.SHEET[0] / 2 + 97, part  # between the markers
        assert low > mat.SHEET[1] / 2 + 53 or high < mat.SHEET[1] / 2 - 53, part
    bare, worded = next(pages(mats_pdf("A"))), next(pages(file.read_bytes()))
    rows = slice(round(52 * PX_PER_MM), round(158 * PX_PER_MM))
    assert (bare[rows] == worded[rows]).all()


def _box(page, text):
    """Left, bottom, right, top of a text on its page, in points."""
    index, count = page.search(text).get_next()
    boxes = np.array([page.get_charbox(n) for n in range(index, index + count)])
    return (*boxes[:, :2].min(axis=0), *boxes[:, 2:].max(axis=0))


@pytest.mark.parametrize("lang", ["en", "de"])
@pytest.mark.parametrize("name", ["rules", "scores"])
def test_rules_and_score_sheet_are_pages_of_words_in_both_languages(name, lang, tmp_path):
    file = tmp_path / "sheet.html"
    result = CliRunner().invoke(print_, [name, "--lang", lang, "-o", str(file)], catch_exceptions=False)
    text = file.read_text(encoding="utf-8")
    assert result.exit_code == 0 and f"<h1>{translate(lang, f'print.{name}.title')}</h1>" in text
    assert "print." not in text and f'<html lang="{lang}">' in text


def test_a_zone_beyond_l_is_refused(tmp_path):
    result = CliRunner().invoke(print_, ["mats", "--zones", "AM", "-o", str(tmp_path / "m.pdf")])
    assert result.exit_code == 2 and "A to L" in result.output


def test_a_deck_that_the_set_cannot_build_is_refused_in_one_line(tmp_path):
    result = CliRunner().invoke(print_, ["cards", "--pieces", "village", "-o", str(tmp_path / "c.pdf")])
    assert isinstance(result.exception, BadCard) and "\n" not in str(result.exception)
