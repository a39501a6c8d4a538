"""Every stage of a judgement as a picture: what ``referee judge --steps`` writes and vision/README.md explains.

Draws, never decides. Except for the first and the last, which show the whole frame, a picture shows one zone's view.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import cv2
import numpy as np

from calibration.mat import FIELD, SHEET, Mats
from cards.build import Build
from cards.card import Card
from cards.pieces import PieceSet, Pose
from referee.vision.image.view import ZoneView
from referee.vision.observer import Judgement, ZoneStudy
from referee.vision.overlay import AMBER, BLACK, CORNERS, GREEN, PURPLE, RED, WHITE, draw_field, polyline, with_panel
from referee.vision.render.lettering import Colour, Letters, write
from referee.vision.render.solids import FACES, face_tags, piece_tags, solid
from referee.vision.search.beam_search import BeamSearch
from referee.vision.search.canvas import Reading, coarse_canvas, to_build
from referee.vision.verdict.proof import claims
from referee.vision.verdict.rulings import Ruled

LARGER, CLOSER = 2, 3
"""The whole view is shown at so many times its size, and what is about the build."""
ROOM_MM, LOWEST_MM, EDGE_PX = 30.0, 90.0, 8
"""So much is shown above a build; one is shown as if it were at least so high; and px of the view on every side."""
CAPTION_PX, CAPTION_PAD = 13, 7
"""Size of a caption's letters, and the space about them."""
UNLIKE_NATS = 12.0
"""What is so unlike the bare table is shown as wholly unlike it."""
CANDIDATES = 12
"""So many first pieces are drawn, those with the most evidence."""
LIGHT, AMBIENT = np.array([0.35, -0.55, 0.75]), 0.55
"""Where drawn pieces are lit from, and how light their dark sides are."""
AXES_MM = ((0.0, 0.0, 0.0), (60.0, 0.0, 0.0), (0.0, 60.0, 0.0), (SHEET[0] / 2, 0.0, 0.0))
"""A mat's middle, the tips of its axes, and where its letter stands."""
BLUE = (230, 120, 40)
DIMMED = 0.35
"""How much is left of a photograph that something is drawn upon."""


def step_pictures(
    frame: np.ndarray, judgement: Judgement, studies: Sequence[ZoneStudy], card: Card
) -> Iterator[tuple[str, np.ndarray]]:
    """Names and pictures (h, w, 3) uint8 BGR of the stages, in their order; ``studies`` as ``Observer.judge`` gave
    them out for this ``frame`` (h, w, 3)."""
    yield "1_mats", _captioned(_mats(frame, judgement.mats), "mats: sheets, fields and axes as their markers say")
    stages = (_view, _background, _labels, _candidates, _hypotheses, _proof)
    for study in sorted(studies, key=lambda study: study.view.zone):
        for k, stage in enumerate(stages, 2):
            picture, caption = stage(study)
            yield f"{k}{stage.__name__}_{study.view.zone}", _captioned(picture, caption)
    yield "8_verdict", with_panel(frame, judgement, card)


def _mats(frame: np.ndarray, mats: Mats) -> np.ndarray:
    """The markers that were found, the sheets and the fields where the mats' poses have them."""
    picture, camera = frame.copy(), mats.camera
    for pose in mats.poses.values():
        draw_field(picture, camera, pose, AMBER, 2)
        draw_field(picture, camera, pose, GREEN, 2, (SHEET[0] / 2, SHEET[1] / 2))
        middle, x, y, corner = camera.project(pose.to_camera(np.array(AXES_MM)))
        cv2.arrowedLine(picture, _at(middle), _at(x), RED, 2, cv2.LINE_AA, tipLength=0.2)
        cv2.arrowedLine(picture, _at(middle), _at(y), BLUE, 2, cv2.LINE_AA, tipLength=0.2)
        write(picture, pose.zone, _at(corner + (10, 10)), Letters(28, WHITE, True, BLACK))
    return picture


def _view(study: ZoneStudy) -> tuple[np.ndarray, str]:
    """The undistorted crop, with the sheet and the field."""
    picture = cv2.resize(study.view.image, None, fx=LARGER, fy=LARGER, interpolation=cv2.INTER_CUBIC)
    for half_mm, colour in (((SHEET[0] / 2, SHEET[1] / 2), GREEN), (FIELD, AMBER)):
        corners = np.array([(x, y, 0.0) for x, y in (*CORNERS, CORNERS[0])]) * (*half_mm, 0.0)
        polyline(picture, LARGER * study.view.project(corners), colour, 1)
    return picture, "view: the zone cut out, lens distortion taken away, a pixel a millimetre"


def _background(study: ZoneStudy) -> tuple[np.ndarray, str]:
    """How unlike the bare table each pixel is."""
    unlike = np.clip(-study.evidence.bare / UNLIKE_NATS, 0.0, 1.0)
    heat = cv2.applyColorMap((255 * unlike).astype(np.uint8), cv2.COLORMAP_INFERNO)
    return _close(study, heat), "background: the lighter, the less a pixel is like the bare table"


def _labels(study: ZoneStudy) -> tuple[np.ndarray, str]:
    """The likeliest colour of each pixel."""
    evidence, colors = study.evidence, _colors(study.piece_set)
    names = np.array([*(colors[name] for name in evidence.names), (225, 225, 225)], np.uint8)
    picture = names[evidence.labels]
    picture[evidence.unknown] = PURPLE
    return _close(study, picture), "labels: the likeliest paint of each pixel; grey: table; purple: unknown"


def _candidates(study: ZoneStudy) -> tuple[np.ndarray, str]:
    """The best first pieces of a search."""
    small, picture = coarse_canvas(study.canvas), _close(study, _dimmed(study.view.image))
    colors, cat = _colors(study.piece_set), study.decision.case.rulings.cat
    roots = BeamSearch(small).roots
    for row in roots[np.argsort(roots[:, 5], kind="stable")[-CANDIDATES:]]:
        (piece,) = to_build(cat, Reading(float(row[7]), row[None, :5], 0.0)).pieces
        _outline(study, picture, piece_tags(study.view, study.piece_set, [piece]) >= 0, colors[piece.color], 2)
    return picture, f"candidates: {min(CANDIDATES, len(roots))} of {len(roots)} places that a first piece may have"


def _hypotheses(study: ZoneStudy) -> tuple[np.ndarray, str]:
    """The reading ahead, its rival, and the best two of other pieces or poses, drawn as builds."""
    case, rulings = study.decision.case, study.decision.case.rulings
    shown = [ruled for ruled in (case.best, case.compared.rival) if ruled]
    for ruled in (Ruled(r, *rulings.of(r)) for r in study.hypotheses):
        if len(shown) < 4 and _pieces(ruled) not in [_pieces(other) for other in shown]:
            shown.append(ruled)
    tiles = []
    for ruled in shown:
        tile = _close(study, painted(study.view, study.piece_set, ruled.build, _dimmed(study.view.image)), LARGER)
        ruling = "mismatch" if ruled.faults else "match"
        words = f"{ruling}, {ruled.reading.score:,.0f} nats"
        write(tile, words, (8, 20), Letters(CAPTION_PX, RED if ruled.faults else GREEN, True, BLACK))
        tiles.append(tile)
    tiles += [np.zeros_like(tiles[0])] * (4 - len(tiles))
    grid = np.vstack([np.hstack(tiles[:2]), np.hstack(tiles[2:4])])
    return grid, f"hypotheses: of {len(study.hypotheses)} builds the best, the best of the other ruling, two others"


def _proof(study: ZoneStudy) -> tuple[np.ndarray, str]:
    """The pixels that tell the build ahead from its rival: whether they show it."""
    case, picture = study.decision.case, _dimmed(study.view.image)
    rival = case.compared.rival and case.compared.rival.build
    claim = claims(study.view, study.evidence, study.piece_set, case.best.build, rival)
    picture[claim.differs & claim.shown] = GREEN
    picture[claim.differs & ~claim.shown] = RED
    close = _close(study, picture)
    for i in range(len(case.best.build.pieces)):
        _outline(study, close, claim.tags == i, WHITE, 1)
    share = round(100 * case.proof)
    return close, f"proof: pixels in which the two best differ; green: they show the best; weakest part {share} %"


def _pieces(ruled: Ruled) -> Counter[tuple[str, str, Pose]]:
    return Counter((p.shape, p.color, p.pose) for p in ruled.build.pieces)


def painted(view: ZoneView, piece_set: PieceSet, build: Build, onto: np.ndarray) -> np.ndarray:
    """A picture (h, w, 3) of the view with a build and its loose pieces drawn onto it as lit solids."""
    pieces, picture, colors = (*build.pieces, *build.loose), onto.copy(), _colors(piece_set)
    tags = face_tags(view, piece_set, pieces)
    for i, piece in enumerate(pieces):
        normals = solid(piece_set.shapes[piece.shape], piece.pose).normals
        c, s = np.cos(np.radians(piece.yaw)), np.sin(np.radians(piece.yaw))
        turned = normals @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        shade = AMBIENT + (1 - AMBIENT) * np.clip(turned @ LIGHT, 0.0, 1.0)
        mine = (tags >= i * FACES) & (tags < (i + 1) * FACES)
        picture[mine] = (np.array(colors[piece.color]) * shade[tags[mine] - i * FACES, None]).astype(np.uint8)
    return picture


def _colors(piece_set: PieceSet) -> dict[str, Colour]:
    """Blue, green and red of each colour's name."""
    return {name: piece_set.rgb(name)[::-1] for name in piece_set.colors}


def _dimmed(image: np.ndarray) -> np.ndarray:
    gray = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    return cv2.cvtColor((DIMMED * gray).astype(np.uint8), cv2.COLOR_GRAY2BGR)


def _window(study: ZoneStudy) -> tuple[slice, slice]:
    """Rows and columns of the view in which the field is, up to a little above the build."""
    top = max([LOWEST_MM, *(p.z + ROOM_MM for p in study.decision.case.best.build.pieces)])
    box = study.view.project(np.array([(x, y, z) for x, y in CORNERS for z in (0.0, top)]) * (*FIELD, 1.0))
    low = np.maximum(box.min(0).astype(int) - EDGE_PX, 0)
    high = box.max(0).astype(int) + EDGE_PX
    return slice(low[1], high[1]), slice(low[0], high[0])


def _close(study: ZoneStudy, picture: np.ndarray, times: int = CLOSER) -> np.ndarray:
    """What a picture of the view (h, w, …) shows about the build, enlarged."""
    return cv2.resize(picture[_window(study)], None, fx=times, fy=times, interpolation=cv2.INTER_NEAREST)


def _outline(study: ZoneStudy, close: np.ndarray, mask: np.ndarray, colour: Colour, thick: int) -> None:
    """Draw a mask (h, w) of the view into a picture as ``_close`` makes them."""
    smooth = cv2.resize(mask[_window(study)].astype(np.float32), close.shape[1::-1], interpolation=cv2.INTER_CUBIC)
    contours, _ = cv2.findContours((smooth > 0.5).astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    for contour in contours:
        polyline(close, np.vstack([contour, contour[:1]]).reshape(-1, 2), colour, thick)


def _captioned(picture: np.ndarray, caption: str) -> np.ndarray:
    """The picture with a strip below that says what it shows."""
    strip = np.full((CAPTION_PX + 2 * CAPTION_PAD, picture.shape[1], 3), 24, np.uint8)
    write(strip, caption, (CAPTION_PAD, CAPTION_PX + CAPTION_PAD), Letters(CAPTION_PX, WHITE))
    return np.vstack([picture, strip])


def _at(point: np.ndarray) -> tuple[int, int]:
    x, y = point.round().astype(int).tolist()
    return x, y
