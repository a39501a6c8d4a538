"""The attempt folder of CONTRACT.md: what it holds, whether it is whole, and how it travels.

``attempt.json`` says everything in one object: ``card``, ``players`` (zone -> name), ``zones``, the names of
``camera``, ``piece_set`` and ``deck``, ``go`` (seconds), ``stop`` ({zone, seconds}), ``marks``, ``judged``,
``verdicts`` (zone -> the contract's row), ``findings`` (zone -> names of ``rules.FINDINGS``), ``callers``,
``award`` (player), ``human`` (rulings by people), ``dropped``, ``versions``, ``simulated``, ``earlier`` (zone ->
pictures from while its build grew that its verdict rests on), ``hashes`` (file -> SHA-256), ``film`` (the original,
where ``video.mp4`` is a copy for browsers), ``second`` (the second ``camera``, when its film ``begins``, ``dropped``,
``cut_short``) and ``cut_short``: why the recording is not whole, or null, with ``cut_short_said`` for other languages.
All seconds are video time, 0 at the first camera's first frame; each film and its list of times begin at 0.
Recorded facts are never edited: what people say later stands in ``review.jsonl`` beside them, one line each, appended.
"""

import csv
import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import cv2
import numpy as np
from pydantic import BaseModel, ValidationError

from calibration.camera import CameraModel, load_camera
from calibration.palette import Palette, load_palette
from calibration.picture_size import too_large
from cards.card import Card
from cards.deck import Deck, load_deck
from cards.errors import first_fault, parsed_file
from cards.pieces import PieceSet, load_piece_set
from referee.errors import BadAttempt
from referee.events import Event
from referee.files import torn, write_whole

META, VIDEO, TIMES, STOP, REVIEW = "attempt.json", "video.mp4", "frames.csv", "stop.png", "review.jsonl"
CAMERA, PALETTE, PIECES, DECK = "camera.yaml", "palette.json", "pieces.json", "deck.json"
EMPTY, AT_GO = "empty.png", "go.png"
PLACED = "mats.json"
"""Zone -> corners (4, 2), shares of the picture, of a sheet that was placed by hand, for its markers were not read."""

JOURNAL, SIGNATURE = "journal.jsonl", "signature.json"


def of_camera(name: str, number: int) -> str:
    """What that file is called for the first or the second camera: ``empty.png``, ``empty_2.png``."""
    path = Path(name)
    return name if number == 1 else str(path.with_stem(f"{path.stem}_{number}"))


LOST = "lost_"
"""In names of pictures from before something was lost from a build, shortly before the Stop."""

DELETED_PREFIX = ".gone-"
"""How the name of a folder begins that has been taken out of its archive and is still to be deleted."""

TORN = "is torn, as a power cut or a full disk leaves a file"
"""Ends what is said of a recorded file that is empty or was never written to its end: nobody has changed it."""

UNHASHED = (META, REVIEW, JOURNAL, SIGNATURE)
LATE_EVENTS = {"duel_overruled": "ruling", "ruling": "ruling", "foul": "foul"}
"""What people say of a duel when its recording is closed: event -> kind of line beside the record."""

LOW_MARGIN = 0.9
"""A verdict less sure than this is worth a second look; a judge's figures are probabilities."""

MAX_BUNDLE_BYTES = 4 << 30
"""No bundle unpacks to more than this: an hour of 1080p is about 4 GB."""


MAX_BUNDLE_FILES, MAX_BUNDLE_RATIO = 20_000, 100
"""Nor to more files, nor to more than this many times its own size: video and pictures hardly pack."""

MAX_FOLDER_DEPTH = 12
"""Attempts are looked for in folders within folders, but no deeper."""


class _Stop(BaseModel):
    """The press that ended the duel; a recording without one has None."""

    zone: str | None = None
    seconds: float


class _Verdict(BaseModel):
    """The camera's ruling on a zone, the contract's row."""

    verdict: str
    confidence: float = 1.0
    reasons: list[dict[str, Any]] = []


class _Judged(BaseModel):
    """One look at the build: the files of its frames, and of those of a second camera."""

    files: list[str] | None = None
    second: "_Judged | None" = None


class _SecondFilm(BaseModel):
    """What a second camera filmed, from when on; None while it has given no frame."""

    begins: float | None = None


class _Meta(BaseModel):
    """What other modules rely on in ``attempt.json``; whatever else stands in it is carried along."""

    card: str | None
    players: dict[str, str] | None = None
    zones: list[str] | None = None
    match_id: str | None = None
    go: float | None = None
    stop: _Stop | None = None
    marks: list[dict[str, Any]] | None = None
    judged: list[_Judged] | None = None
    verdicts: dict[str, _Verdict] | None = None
    findings: dict[str, list[str]] | None = None
    human: list[dict[str, Any]] | None = None
    fouls: list[dict[str, Any]] | None = None
    earlier: dict[str, list[str]] | None = None
    hashes: dict[str, str] | None = None
    cut_short: str | None = None
    cut_short_said: dict[str, Any] | None = None
    film: str | None = None
    second: _SecondFilm | None = None


@dataclass(frozen=True, eq=False)
class Attempt:
    """One recorded duel, read from its folder; pictures and files are opened when asked for."""

    folder: Path
    meta: Mapping
    number: int = 1
    """Of the camera whose film, lens, colours, empty table and judged frames are asked for."""

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @property
    def film(self) -> Path:
        """The pictures as they were recorded: the original where ``video.mp4`` is a copy made for the browser."""
        first = Path(self.meta.get("film") or VIDEO).name
        return self.folder / (first if self.number == 1 else of_camera(VIDEO, self.number))

    @property
    def cut_short(self) -> str | None:
        """Why this camera's film is not whole; None when it is."""
        return self._of_film.get("cut_short")

    @property
    def _of_film(self) -> Mapping[str, Any]:
        """What is recorded of this camera's film."""
        return self.meta if self.number == 1 else self.meta.get("second") or {}

    @property
    def go_s(self) -> float | None:
        """Video time of the go."""
        return self.meta.get("go")

    @property
    def stop_s(self) -> float | None:
        """Video time of the Stop that counted."""
        return (self.meta.get("stop") or {}).get("seconds")

    @property
    def caller(self) -> str | None:
        """The zone whose player called Stop."""
        return (self.meta.get("stop") or {}).get("zone")

    @property
    def verdicts(self) -> Mapping[str, dict]:
        """Zone -> the camera's verdict as recorded, in the contract's form."""
        return self.meta.get("verdicts") or {}

    @property
    def players(self) -> Mapping[str, str]:
        """Zone -> player's name."""
        return self.meta.get("players") or {}

    @cached_property
    def deck(self) -> Deck:
        """The deck that was played."""
        return load_deck(self.folder / DECK)

    @cached_property
    def card(self) -> Card:
        """The card that was built."""
        return self.deck.card(self.meta["card"])

    @cached_property
    def piece_set(self) -> PieceSet:
        """The pieces that were used."""
        return load_piece_set(self.folder / PIECES)

    def _kept(self, name: str) -> Path | None:
        path = self.folder / of_camera(name, self.number)
        return path if path.exists() else None

    @cached_property
    def camera(self) -> CameraModel | None:
        """The lens, if it was known."""
        return load_camera(path) if (path := self._kept(CAMERA)) else None

    @cached_property
    def palette(self) -> Palette | None:
        """The colours learnt on the rig, if any were."""
        return load_palette(path) if (path := self._kept(PALETTE)) else None

    @cached_property
    def empty(self) -> np.ndarray | None:
        """The rig with nothing on the mats, (h, w, 3) uint8 BGR, if it was kept."""
        return read_image(path) if (path := self._kept(EMPTY)) else None

    @cached_property
    def at_go(self) -> np.ndarray | None:
        """The table shortly before the go, where pieces lie about, (h, w, 3) uint8 BGR, if it was kept."""
        return read_image(path) if (path := self._kept(AT_GO)) else None

    @cached_property
    def placed(self) -> dict[str, np.ndarray]:
        """The mats that were placed by hand; mostly none. Raises BadAttempt."""
        return read_placed(self.folder / of_camera(PLACED, self.number))

    def seen_by(self, number: int) -> "Attempt":
        """The same attempt as the first camera or the second saw it."""
        return self if number == self.number else replace(self, number=number)

    @property
    def views(self) -> list["Attempt"]:
        """The attempt as each camera saw it that filmed it."""
        return [self.seen_by(number) for number in ((1, 2) if self.meta.get("second") else (1,))]

    @property
    def judged_views(self) -> list["Attempt"]:
        """The attempt as each camera saw it whose frames were judged, the first camera's before the second's."""
        views = [self.seen_by(number) for number in (1, 2)]
        return [view for view in views if view.judged_names()]

    @property
    def begins_s(self) -> float:
        """Video time of this camera's first frame."""
        return self._of_film.get("begins") or 0.0

    @cached_property
    def seconds(self) -> list[float]:
        """Video time of every frame."""
        return [self.begins_s + seconds for seconds in read_times(self.folder / of_camera(TIMES, self.number))]

    def judged_frames(self) -> list[np.ndarray]:
        """The frames that the verdict stands on, lossless, (h, w, 3) uint8 BGR each."""
        return [read_image(self.folder / n) for n in self.judged_names()]

    def earlier_pictures(self) -> dict[str, list[tuple[np.ndarray, bool]]]:
        """Zone -> pictures uint8 (h, w, 3) BGR, or (h, w, 4) and transparent where nothing is known, from while its
        build grew that its verdict rests on, and whether they are from before something was lost from it."""
        kept = self.meta.get("earlier") or {}
        paths = {zone: [self.folder / Path(name).name for name in names] for zone, names in kept.items()}
        return {
            zone: [(read_image(path, cv2.IMREAD_UNCHANGED), LOST in path.name) for path in of]
            for zone, of in paths.items()
        }

    @property
    def at_press(self) -> Mapping[str, Mapping]:
        """Zone -> what was seen of its field at the press: files, the contract's ``row``, what came ``after`` and who
        the ``culprit`` is (``referee.match.stop_views``); only zones that were touched after it, or nobody knows."""
        return self.meta.get("at_press") or {}

    def press_views(self, zone: str) -> list[tuple["Attempt", list[str]]]:
        """The attempt as each camera saw it whose frames of a zone's press were judged, with their files; the main
        camera's first."""
        row = self.at_press[zone]
        main = row.get("camera", 1)
        looks = [(main, row), (3 - main, row.get("beside") or {})]
        return [(self.seen_by(n), [Path(name).name for name in of["files"]]) for n, of in looks if of.get("files")]

    def judged_names(self) -> list[str]:
        """The files of those frames: the last that were judged, mostly ``stop.png`` and what followed it."""
        rows = [row for row in self.meta.get("judged") or () if row.get("files") or row.get("second")]
        second = (rows[-1].get("second") or {}).get("files") or [] if rows else []
        if self.number == 2:
            return list(second)
        return list(rows[-1]["files"] or []) if rows else [STOP]

    def reviews(self) -> list[dict]:
        """What people said of it, oldest first."""
        try:
            lines = (self.folder / REVIEW).read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        try:
            return [row for line in lines if line.strip() and isinstance(row := json.loads(line), dict)]
        except (ValueError, RecursionError) as error:
            raise BadAttempt(f"{self.folder / REVIEW}: not JSON lines ({error})") from None

    def recorded(self) -> list[Path]:
        """The files that are listed with a hash, as far as they are there."""
        return [path for name in self.meta.get("hashes") or {} if (path := self.folder / name).is_file()]

    def problems(self, of: Collection[str] | None = None) -> list[str]:
        """Every file (``of`` these) that is missing or is not what its hash says; empty when all are whole."""
        found = []
        for name, expected in (self.meta.get("hashes") or {}).items():
            if of is not None and name not in of:
                continue
            path = self.folder / name
            if not path.exists():
                found.append(f"{name} is missing")
            elif sha256(path) != expected:
                found.append(f"{name} {TORN if torn(path) else 'is not the file that was recorded'}")
        return found


def earlier_names(zone: str, view: str, pictures: Sequence[tuple[object, bool]]) -> list[str]:
    """The files of pictures from while a zone's build grew, as ``Attempt.earlier_pictures`` reads them."""
    return [f"earlier_{view}_{zone}_{LOST * lost}{n}.png" for n, (_, lost) in enumerate(pictures)]


def load_attempt(folder: str | Path) -> Attempt:
    """Read an attempt folder. Raises BadAttempt with one line that names the folder and the fault."""
    path = Path(folder)
    try:
        meta = json.loads((path / META).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadAttempt(f"{path}: not an attempt ({META}: {error.strerror or error})") from None
    except (ValueError, RecursionError) as error:
        raise BadAttempt(f"{path / META}: not JSON ({error})") from None
    if not isinstance(meta, dict) or "card" not in meta:
        raise BadAttempt(f"{path / META}: names no card")
    try:
        _Meta.model_validate(meta)
    except ValidationError as error:
        raise BadAttempt(f"{path / META}: {first_fault(error)}") from None
    return Attempt(path, meta)


def find_attempts(root: str | Path, deepest: int = MAX_FOLDER_DEPTH) -> list[Path]:
    """The attempt folders at ``root`` or below it, by path; a folder inside an attempt is not looked at."""
    root = Path(root)
    if (root / META).exists():
        return [root]
    if not root.is_dir() or deepest < 0:
        return []
    folders = [child for child in sorted(root.iterdir()) if child.is_dir() and not child.name.startswith(".")]
    return [found for child in folders for found in find_attempts(child, deepest - 1)]


def stamp_of(folder: str | Path) -> str:
    """What changes whenever the folder's record, its reviews or its list of files does; empty where there is no record.

    A record that is replaced has another number and time, a review that is appended another size.
    """
    told: list[tuple[int, int, int]] = []
    for name in (META, "", REVIEW):
        try:
            found = os.stat(os.path.join(folder, name))
            told.append((found.st_ino, found.st_mtime_ns, found.st_size))
        except OSError:
            if name == META:
                return ""
    return repr(told)


def bytes_of(place: Path) -> int:
    """Bytes of a file, or of everything under a folder."""
    try:
        if not place.is_dir():
            return place.lstat().st_size
        return sum(bytes_of(Path(folder, name)) for folder, _, files in os.walk(place) for name in files)
    except FileNotFoundError:  # a draft that has just got its name
        return 0


@dataclass(frozen=True)
class ContestReason:
    """Why an attempt is contested. ``kind``: undecided, close, human, foul, kept or review; ``whom``: the zone
    or the person it is about, where there is one."""

    kind: str
    whom: str = ""


def contest_reasons(meta: Mapping, reviews: Iterable[Mapping] = ()) -> list[ContestReason]:
    """Why this attempt is kept when space runs out; empty when nobody has a quarrel with it."""
    rows = (meta.get("verdicts") or {}).items()
    why = [ContestReason("undecided", z) for z, v in rows if v.get("verdict") == "undecided"]
    why += [
        ContestReason("close", z)
        for z, v in rows
        if v.get("verdict") != "undecided" and v.get("confidence", 1.0) < LOW_MARGIN
    ]
    if meta.get("human"):
        why.append(ContestReason("human"))
    reviews = list(reviews)
    fouls = [*(meta.get("fouls") or ()), *(r for r in reviews if r.get("kind") == "foul")]
    if any(foul.get("duel") in (None, meta.get("duel")) for foul in fouls):
        why.append(ContestReason("foul"))
    if meta.get("keep"):
        why.append(ContestReason("kept"))
    return why + [ContestReason("review", r.get("who", "?")) for r in reviews if r.get("kind") == "ruling"]


def recorded_at(meta: Mapping) -> datetime | None:
    """When it was recorded, as its record says: a copied file's time is the copy's. None where no time is said."""
    try:
        said = datetime.fromisoformat(str(meta.get("recorded_at")))
        return (said if said.tzinfo else said.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def review_row(event: Event) -> dict[str, Any]:
    """The line of ``review.jsonl`` for one of the ``LATE_EVENTS``."""
    said = event.data
    row = {
        "kind": LATE_EVENTS[event.kind],
        "who": event.who,
        "at": event.at,
        "why": said.get("why") or said.get("text") or "",
    }
    return row | {k: said[k] for k in ("ruling", "zone", "player", "said") if said.get(k)}


def write_json(path: Path, data: object) -> None:
    """Write JSON so that at every instant the old or the new file is there whole. May raise OSError."""
    write_whole(path, json.dumps(data, indent=1, ensure_ascii=False).encode())


def append_line(path: Path, row: Mapping) -> None:
    """Add a line of JSON to a file, onto the disk. May raise OSError."""
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(dict(row), ensure_ascii=False) + "\n")
        file.flush()
        os.fsync(file.fileno())


def read_times(path: Path) -> list[float]:
    """Seconds per frame from a ``frames.csv``; a torn last line is left out. Raises BadAttempt."""
    try:
        rows = list(csv.reader(path.read_text(encoding="ascii").splitlines()))
        return [float(row[1]) for row in rows[1:] if len(row) >= 2]
    except (OSError, ValueError) as error:
        raise BadAttempt(f"{path}: not a list of frame times ({error})") from None


def read_image(path: Path, flags: int = cv2.IMREAD_COLOR) -> np.ndarray:
    """A picture as (h, w, 3) uint8 BGR, or as OpenCV's ``flags`` say. Raises BadAttempt naming the file."""
    data = path.read_bytes() if path.is_file() else b""
    if size := too_large(data):
        raise BadAttempt(f"{path}: too large, {size}")
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), flags) if data else None
    except cv2.error:  # what OpenCV will not even begin to unfold
        image = None
    if image is None or image.ndim != 3 or image.dtype != np.uint8:
        raise BadAttempt(f"{path}: not a picture that can be read")
    return image


def read_placed(path: Path) -> dict[str, np.ndarray]:
    """Zone -> corners (4, 2) of a sheet placed by hand, shares of the picture; none without the file.

    Raises BadAttempt.
    """

    def corners(text: str) -> dict[str, np.ndarray]:
        return {zone: np.array(four, float).reshape(4, 2) for zone, four in json.loads(text).items()}

    refused = (ValueError, TypeError, AttributeError, RecursionError)
    return parsed_file(path, corners, "corners of mats", BadAttempt, refused) if path.exists() else {}


def sha256(path: Path) -> str:
    """The file's SHA-256, hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hash_files(folder: Path) -> dict[str, str]:
    """SHA-256 of every recorded file of the folder but those that hold or follow the record."""
    names = sorted(p.name for p in folder.iterdir() if p.is_file())
    return {
        n: sha256(folder / n) for n in names if n not in UNHASHED and not n.startswith(".") and not n.endswith(".tmp")
    }


def pack(attempt: Attempt, target: Path | BinaryIO) -> None:
    """Write the attempt as a zip bundle to a path or binary file; ``unpack`` reads it back."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as bundle:
        for path in sorted(attempt.folder.iterdir()):
            if path.is_file() and not path.name.startswith(".") and not path.name.endswith(".tmp"):
                bundle.write(path, f"{attempt.name}/{path.name}")


def unpack(source: Path, target: Path) -> list[Path]:
    """Unpack a bundle under ``target``; gives its attempt folders. Raises BadAttempt.

    Nothing is written outside ``target``, and no more than MAX_BUNDLE_BYTES, _FILES and _RATIO allow.
    """
    try:
        with zipfile.ZipFile(source) as bundle:
            _refuse_bomb(source, bundle.infolist())
            bundle.extractall(target)
    except NotImplementedError as error:
        raise BadAttempt(f"{source}: packed in a way that is not known ({error})") from None
    except (OSError, zipfile.BadZipFile, zlib.error, RuntimeError, ValueError) as error:
        raise BadAttempt(f"{source}: not a bundle ({error})") from None
    found = find_attempts(target)
    if not found:
        raise BadAttempt(f"{source}: holds no attempt")
    return found


def _refuse_bomb(source: Path, files: Sequence[zipfile.ZipInfo]) -> None:
    """BadAttempt for a bundle that would fill the disk, or hides in folders within folders."""
    total = sum(f.file_size for f in files)
    if total > MAX_BUNDLE_BYTES:
        raise BadAttempt(f"{source}: unpacks to more than {MAX_BUNDLE_BYTES >> 30} GB")
    if total > MAX_BUNDLE_RATIO * source.stat().st_size:
        raise BadAttempt(f"{source}: unpacks to more than {MAX_BUNDLE_RATIO} times its size")
    if len(files) > MAX_BUNDLE_FILES:
        raise BadAttempt(f"{source}: holds more than {MAX_BUNDLE_FILES} files")
    if any(f.filename.count("/") > MAX_FOLDER_DEPTH for f in files):
        raise BadAttempt(f"{source}: holds folders more than {MAX_FOLDER_DEPTH} deep")
    if any(f.flag_bits & 1 for f in files):
        raise BadAttempt(f"{source}: is encrypted")
