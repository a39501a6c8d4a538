"""What must hold of verdicts on any picture, whatever stands there: checks that need no truth.

| check | what must hold |
|---|---|
| ``contradiction`` | of cards that no build satisfies together at most one is matched |
| ``asked`` | which build explains the picture best does not depend on the card |
| ``aids`` | empty frame, colours and lens turn no ruling into the other |
| ``aids_lose`` | nor do they leave undecided what the picture alone shows to be right |
| ``mirror`` | the mirrored picture has the same verdict, by the mirrored card |
| ``small`` | a verdict of ``SURE`` or more is the same after JPEG 90, 0.1 stops more or less light, or half a pixel |

Each picture is tried by one of them in turn.
"""

import dataclasses
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.camera import CameraModel
from calibration.mat import MatPose, Mats
from cards.build import Build, Piece
from cards.card import Card
from cards.deck import load_deck
from cards.kinds.layout import LayoutCard
from cards.kinds.organ_pipes import OrganCard
from cards.law import along_build, build_turn
from cards.pieces import PieceSet, Pose
from referee.benchmark.effects.scene import Inputs
from referee.benchmark.run import Knowledge, observer_of, truth_of
from referee.benchmark.scoring import matched_pieces, piece_right
from referee.benchmark.stress import StressJob, perturbed_inputs, stress_observer
from referee.errors import RefereeError
from referee.match.verdict import Verdict
from referee.vision.image.aids import believed_mats
from referee.vision.observer import Judgement, Observer

SURE = 0.95
"""A verdict of less may turn with a small change."""
NO_AIDS = Knowledge(empty=False, colors=False, camera=False)
MIRROR = np.diag([-1.0, 1.0, 1.0])
"""Takes a point before a mirror in the plane x = 0 to its image."""


@dataclass(frozen=True)
class Consistency:
    """One ``check`` of one zone of a picture; ``broken`` says how it does not hold, empty where it does."""

    check: str
    picture: str
    zone: str
    broken: str = ""


Found = Iterator[tuple[str, str, str]]
"""Check, zone, and how it is broken."""


def run_consistency(job: StressJob) -> list[Consistency]:
    """One check of a job's picture; none where it shows no mat, or is not to be read."""
    truth = truth_of(job.folder)["frames"][job.index]
    card = load_deck(job.folder / "deck.json").card(truth["card"])
    check = CHECKS[zlib.crc32(job.name.encode()) % len(CHECKS)]
    try:
        inputs = _known(perturbed_inputs(job)[0], job.knowledge)
        observer = stress_observer(job, inputs)
        found = list(check(observer, inputs, card))
    except RefereeError:
        return []
    return [Consistency(name, job.name, zone, broken) for name, zone, broken in found]


def _known(inputs: Inputs, given: Knowledge) -> Inputs:
    """The inputs without the aids that are not given: every observer of a check has the same."""
    empty, colors = inputs.empty if given.empty else None, inputs.colors if given.colors else None
    return dataclasses.replace(inputs, empty=empty, colors=colors, camera=inputs.camera if given.camera else None)


def _contradiction(observer: Observer, inputs: Inputs, card: Card) -> Found:
    as_asked = observer.judge([inputs.frame], card)
    for zone, verdict in as_asked.zones.items():
        cards = contradicting_layouts(verdict.build) if verdict.build else []
        if len(cards) < 2:  # nothing stands there: nothing could contradict
            continue
        judged = [observer.judge([inputs.frame], one, [zone]).zones.get(zone) for one in cards]
        matched = [n for n, one in enumerate(judged) if one is not None and one.ruling == "match"]
        yield "contradiction", zone, f"{len(matched)} of {len(cards)} matched" if len(matched) > 1 else ""
        others = [one.build for one in judged if one is not None and one.build is not None]
        unlike = [build for build in others if not _same(observer.piece_set, verdict.build, build)]
        yield "asked", zone, f"{len(unlike)} of {len(others)} are other builds" if unlike else ""


def contradicting_layouts(build: Build) -> list[LayoutCard]:
    """Layouts no two of which one build satisfies: the build itself, without its highest piece, with one more on it,
    and with one piece in another of the set's colours."""
    pieces, stock = _shown(build), sorted(build.piece_set.inventory)
    top = max(pieces, key=lambda p: p.z, default=None)
    if top is None:
        return []
    others = [(p, color) for p in pieces for shape, color in stock if shape == p.shape and color != p.color]
    cards = [pieces, [*pieces, top.at(z=round(top.z + build.piece_set.shapes[top.shape].height))]]
    cards += [[p for p in pieces if p is not top]] if len(pieces) > 1 else []
    for piece, color in others[:1]:
        cards.append([dataclasses.replace(piece, color=color) if p is piece else p for p in pieces])
    return [LayoutCard("C", 1, tuple(some)) for some in cards]


def _shown(build: Build) -> list[Piece]:
    """The pieces as a layout card has them: turned back, side by side in one plane, in whole millimetres."""
    if not build.pieces:
        return []
    x = along_build(build, build_turn(build))[:, 0]
    return [
        dataclasses.replace(p, x=float(round(a - x.mean())), y=0.0, z=float(round(p.z)), yaw=0.0)
        for p, a in zip(build.pieces, x, strict=True)
    ]


def _same(piece_set: PieceSet, one: Build | None, other: Build) -> bool:
    """Whether two readings are the same pieces in the same poses and places."""
    pairs = matched_pieces(one.pieces if one else (), other.pieces)
    return all(piece_right(piece_set, a, b) for a, b in pairs)


def _aids(observer: Observer, inputs: Inputs, card: Card) -> Found:
    alone = observer_of(inputs, NO_AIDS).judge([inputs.frame], card)
    for zone, told in observer.judge([inputs.frame], card).zones.items():
        if (by_picture := alone.zones.get(zone)) is not None:
            yield "aids", zone, _turned(by_picture, told)
            lost = by_picture.ruling == "match" and told.ruling == "undecided"
            yield "aids_lose", zone, _change(by_picture, told) if lost else ""


def _mirror(observer: Observer, inputs: Inputs, card: Card) -> Found:
    mirrored = mirrored_card(card)
    if mirrored is None:
        return
    other = observer_of(mirrored_inputs(inputs), kind=MirroredObserver)
    yield from _unchanged("mirror", observer, inputs, card, other.judge([inputs.frame[:, ::-1].copy()], mirrored))


def mirrored_card(card: Card) -> Card | None:
    """The card that a mirrored build satisfies; None where no such card can be."""
    if isinstance(card, OrganCard):
        return None
    if not isinstance(card, LayoutCard):
        return card
    turned = [p.pose.rotation if p.pose.facing == "side" else -p.pose.rotation % 360 for p in card.pieces]
    pieces = (
        dataclasses.replace(p, x=-p.x, pose=Pose(rotation, p.pose.facing))
        for p, rotation in zip(card.pieces, turned, strict=True)
    )
    return dataclasses.replace(card, pieces=tuple(pieces))


def mirrored_inputs(inputs: Inputs) -> Inputs:
    """What the same camera behind a mirror gives; without mats placed by hand."""
    empty, colors = (None if one is None else one[:, ::-1].copy() for one in (inputs.empty, inputs.colors))
    camera = None if inputs.camera is None else _mirrored_camera(inputs.camera)
    return dataclasses.replace(
        inputs, frame=inputs.frame[:, ::-1].copy(), camera=camera, empty=empty, colors=colors, placed={}
    )


def _mirrored_camera(camera: CameraModel) -> CameraModel:
    matrix = camera.matrix.copy()
    matrix[0, 2] = camera.width - 1 - matrix[0, 2]
    k1, k2, p1, p2, k3 = camera.distortion
    return dataclasses.replace(camera, matrix=matrix, distortion=np.array([k1, k2, p1, -p2, k3]))


class MirroredObserver(Observer):
    """Sees in a mirror: the markers there nobody can read, so it finds them in the mirrored picture."""

    def learn_empty(self, image: np.ndarray) -> None:
        super().learn_empty(image)
        self.empty_mats = self.look(image)

    def look(self, frame: np.ndarray) -> Mats:
        camera = None if self.camera is None else _mirrored_camera(self.camera)
        mats = believed_mats(frame[:, ::-1].copy(), camera, {}, None, {})
        poses = {zone: _mirrored_pose(pose) for zone, pose in mats.poses.items()}
        return dataclasses.replace(mats, camera=_mirrored_camera(mats.camera), poses=poses)


def _mirrored_pose(pose: MatPose) -> MatPose:
    rotation, translation = MIRROR @ pose.rotation @ MIRROR, MIRROR @ pose.translation
    return dataclasses.replace(pose, rotation=rotation, translation=translation)


def _small(observer: Observer, inputs: Inputs, card: Card) -> Found:
    for change in SMALL_CHANGES.values():
        yield from _unchanged("small", observer, inputs, card, observer.judge([change(inputs.frame)], card), SURE)


def _unchanged(
    check: str, observer: Observer, inputs: Inputs, card: Card, other: Judgement, sure: float = 0.0
) -> Found:
    """Whether verdicts of at least so much confidence are the same in the ``other`` judgement."""
    for zone, told in observer.judge([inputs.frame], card).zones.items():
        changed = other.zones.get(zone)
        if told.ruling != "undecided" and told.confidence >= sure:
            broken = "" if changed is not None and changed.ruling == told.ruling else _change(told, changed)
            yield check, zone, broken


def _turned(before: Verdict, after: Verdict) -> str:
    rulings = {before.ruling, after.ruling}
    return _change(before, after) if len(rulings) == 2 and "undecided" not in rulings else ""


def _change(before: Verdict, after: Verdict | None) -> str:
    if after is None:
        return f"{before.ruling}, then not seen"
    codes = ", ".join(reason.code for reason in after.reasons)
    return f"{before.ruling} {before.confidence:.2f}, then {after.ruling} {after.confidence:.2f} ({codes})"


def _as_jpeg(image: np.ndarray) -> np.ndarray:
    return np.asarray(cv2.imdecode(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 90])[1], cv2.IMREAD_COLOR))


def _exposed(image: np.ndarray, stops: float) -> np.ndarray:
    """As with so much more light: sRGB's curve is nearly the power 2.2."""
    return np.clip((image / 255.0) * 2.0 ** (stops / 2.2) * 255.0 + 0.5, 0, 255).astype(np.uint8)


def _shifted(image: np.ndarray) -> np.ndarray:
    half = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])
    return cv2.warpAffine(image, half, image.shape[1::-1], borderMode=cv2.BORDER_REPLICATE)


SMALL_CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "JPEG 90": _as_jpeg,
    "brighter": lambda image: _exposed(image, 0.1),
    "darker": lambda image: _exposed(image, -0.1),
    "shifted": _shifted,
}
CHECKS: Sequence[Callable[[Observer, Inputs, Card], Found]] = (_contradiction, _aids, _mirror, _small)


def consistency_lines(rows: Sequence[Consistency]) -> list[str]:
    """A table of how often each check holds, and every time that it does not."""
    lines = ["check            pictures   broken    share"]
    for name in dict.fromkeys(row.check for row in sorted(rows, key=lambda row: row.check)):
        of = [row for row in rows if row.check == name]
        broken = sum(bool(row.broken) for row in of)
        lines.append(f"{name:15}  {len(of):8}  {broken:7}  {100 * broken / len(of):6.2f}%")
    told = (f"  {row.check} {row.picture} {row.zone}: {row.broken}" for row in rows if row.broken)
    return [*lines, "", *sorted(told)]
