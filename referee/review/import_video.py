"""From outside: an attempt of any video of a rig with mats, so that it can be judged like one of ours."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import av
import numpy as np

from cards.deck import builtin_deck, load_deck
from cards.errors import RefereeError
from cards.pieces import builtin_piece_set, load_piece_set
from referee.devices.ports import Frame
from referee.errors import BadAttempt
from referee.files import write_whole
from referee.recording import Attempt, load_attempt
from referee.recording.folder import (
    DECK,
    EMPTY,
    META,
    PALETTE,
    PIECES,
    TIMES,
    VIDEO,
    earlier_names,
    hash_files,
    read_image,
    sha256,
    write_json,
)
from referee.recording.video import (
    Times,
    VideoWriter,
    cut_clip,
    decoded_times,
    frame_seconds,
    read_video,
    video_start_s,
)
from referee.recording.writer import pixel_hash, versions, write_file
from referee.review.film import as_decoded, find_mats, is_mirrored, is_shaken, observer_of
from referee.review.options import RejudgeOptions
from referee.review.rejudge import judge_attempt, judge_recorded, press_row
from referee.review.stop_ruling import rule_recorded_stop
from referee.review.stop_watch import StopSeen, watch_stop
from referee.vision.live.gate_history import FieldAtPress

ORIGINAL = "original"
"""Name, with its own suffix, of a film whose ``video.mp4`` is a copy for browsers."""

LEAST_FRAMES = 3
"""A file with fewer pictures is no film."""

BEFORE_GO_S, AFTER_STOP_S = 10.0, 30.0
"""A longer film is cut, so long before its go and after its Stop; a duel is judged within seconds of the Stop."""

BROWSER_PIXELS = ("yuv420p", "yuvj420p")


@dataclass(frozen=True)
class ImportOptions:
    """What the user says of a video. ``files``: name in the attempt folder -> path or None (then the one beside the
    video); ``colors``: a picture with every piece standing apart; ``no_empty``: none beside the video is taken;
    ``part``: from when to when it is read, by default from before the go until after the Stop."""

    card: str | None = None
    stop_s: float | None = None
    go_s: float | None = None
    zone: str | None = None
    players: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str | None] = field(default_factory=dict)
    colors: str | None = None
    no_empty: bool = False
    part: tuple[float | None, float | None] = (None, None)


def import_video(
    video: Path,
    given: ImportOptions,
    out: Path,
    tick: Callable[[], object] = lambda: None,
    eye: str = RejudgeOptions.eye,
) -> Attempt:
    """Make an attempt folder at ``out`` of the video (or a folder with one), judge it, and give it.

    What is not given is taken from the files beside the video. Raises RefereeError with one line that names
    what is missing or wrong; nothing is left at ``out`` then.
    """
    source = video / VIDEO if video.is_dir() else video
    if not source.exists():
        raise BadAttempt(f"{video}: holds no {VIDEO}")
    if out.exists():
        raise BadAttempt(f"{out}: is there already")
    meta = _said(source, given)
    out.mkdir(parents=True)
    try:
        _copy_files(source, given, out, meta)
        copied = _copy_part(source, given.part, out, meta, tick)
        meta["film"] = copied.name
        meta["imported"] |= {"starts_late_s": round(video_start_s(source), 3), "broken": copied.broken}
        _check_empty(source, given, out)
        write_json(out / META, meta)
        if given.colors:
            _learn_colors(given.colors, out)
        return _judge(out, meta, tick, eye)
    except BaseException:
        shutil.rmtree(out)
        raise


def _said(source: Path, given: ImportOptions) -> dict[str, Any]:
    """The record so far: what is given, else what an ``attempt.json`` beside the video says."""
    beside = source.with_name(META)
    known = json.loads(beside.read_text(encoding="utf-8")) if beside.exists() else {}
    stop = known.get("stop") or {}
    card = given.card or known.get("card")
    seconds = stop.get("seconds") if given.stop_s is None else given.stop_s
    if card is None:
        raise BadAttempt(f"{source}: say which card was built with --card")
    if seconds is None:
        raise BadAttempt(f"{source}: say when Stop was pressed with --stop")
    zone = given.zone or stop.get("zone")
    return {
        "card": card,
        "players": dict(given.players) or known.get("players") or {},
        "go": known.get("go", given.part[0] or 0.0) if given.go_s is None else given.go_s,
        "stop": {"zone": zone, "seconds": seconds},
        "camera": source.name,
        "simulated": bool(known.get("simulated", False)),
        "imported": {"from": source.name, "sha256": sha256(source)},
        "versions": versions(),
    }


def _copy_files(source: Path, given: ImportOptions, out: Path, meta: Mapping) -> None:
    for name in given.files:
        if name == EMPTY and given.no_empty:
            continue
        path = Path(given.files[name] or source.with_name(name))
        if path.exists():
            shutil.copyfile(path, out / name)
    if not (out / PIECES).exists():
        write_file(out / PIECES, builtin_piece_set().to_json())
    if not (out / DECK).exists():
        write_file(out / DECK, builtin_deck().to_json())
    load_deck(out / DECK, load_piece_set(out / PIECES)).card(meta["card"])


def _check_empty(source: Path, given: ImportOptions, out: Path) -> None:
    """Raises BadAttempt, naming the given file, for an empty picture that is none or not of the film's size."""
    if not (out / EMPTY).exists():
        return
    named = given.files.get(EMPTY) or source.with_name(EMPTY)
    height, width = read_image(Path(named)).shape[:2]
    shown = next(read_video(source)).image
    if (height, width) != shown.shape[:2]:
        size = f"{width} x {height}, the film {shown.shape[1]} x {shown.shape[0]}"
        raise BadAttempt(f"{named}: is {size}; take a picture of the same rig, or --no-empty")


def _learn_colors(picture: str, out: Path) -> None:
    """The palette of a picture with every piece standing apart, kept beside the film."""
    try:
        palette = observer_of(load_attempt(out)).learn_colors(read_image(Path(picture)))
    except RefereeError as error:
        raise BadAttempt(f"--colors {picture}: {error}") from None
    write_file(out / PALETTE, palette)


class CopiedVideo(NamedTuple):
    """The film's ``name`` in the attempt's folder; from when to when (seconds) it is ``broken``."""

    name: str
    broken: list[tuple[float, float]]


def _copy_part(
    source: Path, part: tuple[float | None, float | None], out: Path, meta: dict[str, Any], tick: Callable[[], object]
) -> CopiedVideo:
    """The part of the film that is to be judged, by the record's go and Stop, which count from its begin afterwards.

    A film that need not be cut, or cannot be and nobody asked for it, is taken whole."""
    go_s, stop_s = meta["go"], meta["stop"]["seconds"]
    begin_s = max(0.0, go_s - BEFORE_GO_S) if part[0] is None else part[0]
    end_s = stop_s + AFTER_STOP_S if part[1] is None else part[1]
    if not begin_s <= stop_s <= end_s:
        raise BadAttempt(f"{source}: the Stop at {stop_s:.2f} s is not between --from and --to")
    asked, length_s = part != (None, None), _length_s(source) or 0.0
    if 0 < length_s < stop_s or not (asked or end_s - begin_s < length_s):
        return copy_video(source, out, tick)
    try:
        clip = cut_clip(source, begin_s, end_s, tick)
    except BadAttempt:
        if asked:
            raise
        return copy_video(source, out, tick)
    meta["go"], meta["stop"]["seconds"] = go_s - clip.offset_s, stop_s - clip.offset_s
    meta["imported"]["part"] = [round(clip.offset_s, 3), round(end_s, 3)]
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        path = Path(scratch, VIDEO)
        path.write_bytes(clip.data)
        return copy_video(path, out, tick)


def _length_s(source: Path) -> float | None:
    """How long the file says it is, 0 where it does not say; None for one without pictures."""
    try:
        with av.open(str(source)) as container:
            return (container.duration or 0) / av.time_base if container.streams.video else None
    except av.error.FFmpegError:
        return 0.0


def copy_video(source: Path, out: Path, tick: Callable[[], object] = lambda: None) -> CopiedVideo:
    """The film as it is, and its frame times as the decoder delivers them. Where browsers could not step through it,
    ``video.mp4`` is a copy for them, encoded anew."""
    seconds, broken = _times(source, tick)
    name = VIDEO if _is_ours(source, seconds) else ORIGINAL + source.suffix.lower()
    shutil.copyfile(source, out / name)
    if name != VIDEO:
        _encode(source, out / VIDEO, tick)
    rows = (f"{n},{at_s:.4f}" for n, at_s in enumerate(seconds))
    write_whole(out / TIMES, ("\n".join(["index,seconds", *rows]) + "\n").encode("ascii"))
    return CopiedVideo(name, [(round(begin_s, 3), round(end_s, 3)) for begin_s, end_s in broken])


def _times(source: Path, tick: Callable[[], object]) -> Times:
    """When the film shows what. Raises BadAttempt for what is no film."""
    try:
        found = decoded_times(source, tick)
    except BadAttempt:
        if _length_s(source) is None:
            raise BadAttempt(f"{source}: not a video: there are no pictures in it") from None
        raise
    if len(found.seconds) < LEAST_FRAMES:
        raise BadAttempt(f"{source}: a photo, not a film; `referee judge` judges photos")
    return found


def _is_ours(source: Path, seconds: Sequence[float]) -> bool:
    """Whether a browser shows it frame by frame as the decoder does: upright, progressive H.264 of 8 bits in MP4, every
    packet a picture, the first at zero."""
    with av.open(str(source)) as container:
        stream = container.streams.video[0]
        plain = container.format.name.startswith("mov") and stream.codec_context.name == "h264"
        frame = next(container.decode(video=0))
        plain = plain and frame.rotation == 0 and not frame.interlaced_frame and frame.format.name in BROWSER_PIXELS
        starts = stream.start_time or 0
    packets = frame_seconds(source) if plain and starts == 0 and video_start_s(source) == 0 else []
    return len(packets) == len(seconds) and bool(np.allclose(packets, seconds, atol=1e-3))


def _encode(source: Path, target: Path, tick: Callable[[], object]) -> None:
    writer = None
    for frame in read_video(source):
        tick()
        writer = writer or VideoWriter(target, frame.image.shape[1], frame.image.shape[0])
        writer.write(frame.image, frame.seconds)
    if writer is None:
        raise BadAttempt(f"{source}: has no frames")
    writer.close()


def _judge(out: Path, meta: dict, tick: Callable[[], object], eye: str) -> Attempt:
    """Find the two views of the Stop, judge them, and write the whole record."""
    attempt = load_attempt(out)
    if attempt.stop_s is None or not 0.0 <= attempt.stop_s <= attempt.seconds[-1]:
        raise BadAttempt(f"Stop at {attempt.stop_s} s is not in a video of {attempt.seconds[-1]:.1f} s")
    seen = _seen(attempt, tick)
    frames = seen.frames[-1:] if is_shaken(attempt) else seen.frames
    names = ["stop.png", *(f"stop_{n}.png" for n in range(1, len(frames)))]
    pixels = _keep(out, names, frames)
    meta |= {
        "zones": list(seen.zones),
        "piece_set": attempt.piece_set.name,
        "deck": attempt.deck.name,
        "cut_short": None,
        "at_press": {z: _at_press(out, z, of) for z, of in seen.fields.items() if of.after.press_counts},
        "judged": [
            {
                "files": names,
                "seconds": [f.at_s for f in frames],
                "zones": list(seen.zones),
                "unobstructed": seen.clear,
                "pixels": pixels,
            }
        ],
    }
    write_json(out / META, meta)
    meta["earlier"] = _keep_earlier(load_attempt(out), seen) if eye == RejudgeOptions.eye else {}
    write_json(out / META, meta)
    meta |= _ruled(load_attempt(out), seen, RejudgeOptions(eye=eye))
    write_json(out / META, meta | {"hashes": hash_files(out)})
    return load_attempt(out)


def _seen(attempt: Attempt, tick: Callable[[], object]) -> StopSeen:
    """The two views of the Stop. Raises BadAttempt for a film that does not show them; broken where it is."""
    broken = attempt.meta["imported"]["broken"]
    why = f"the film is {broken_words(broken)}"
    if any(begin_s <= (attempt.stop_s or 0.0) < end_s for begin_s, end_s in broken):
        raise BadAttempt(f"{why}, and the Stop at {attempt.stop_s:.2f} s is in there: it cannot be judged")
    try:
        _check_mats(attempt)
        return watch_stop(attempt, tick)
    except BadAttempt as error:
        if not broken:
            raise
        raise BadAttempt(f"{error}; {why}") from None


def broken_words(broken: Iterable[tuple[float, float]]) -> str:
    """From when to when a film is broken."""
    return "broken " + " and ".join(f"from {begin_s:.2f} s to {end_s:.2f} s" for begin_s, end_s in broken)


def _ruled(attempt: Attempt, seen: StopSeen, options: RejudgeOptions) -> dict:
    """Verdicts, findings and the press, as both views say, from the frames that are kept beside the film."""
    settled = judge_attempt(attempt, attempt.card, options)
    said = rule_recorded_stop(
        attempt, seen, settled, lambda zone: press_row(attempt, zone, attempt.card, options, settled.get(zone, {}))
    )
    at_press_rows = {z: {**attempt.at_press[z], **rows} for z, rows in said.at_press.items()}
    return {"verdicts": dict(said.verdicts), "at_press": at_press_rows, "findings": dict(said.findings)}


def _keep_earlier(attempt: Attempt, seen: StopSeen) -> dict[str, list[str]]:
    """Zone -> files of the pictures from while its build grew that its verdict rests on, kept beside the film."""
    if is_shaken(attempt):
        return {}
    judged = judge_recorded(attempt, attempt.card, None, seen.earlier())
    kept: dict[str, list[str]] = {}
    for zone, sight in judged.views.items():
        names = earlier_names(zone, "settled", [(one.image, one.lost) for one in sight.earlier])
        for name, one in zip(names, sight.earlier, strict=True):
            write_file(attempt.folder / name, one.image)
            kept.setdefault(zone, []).append(name)
    return kept


def _keep(folder: Path, names: Sequence[str], frames: Sequence[Frame]) -> list[str]:
    """Write pictures as they were decoded; gives the digests of their pixels."""
    images = [as_decoded(frame) for frame in frames]
    for name, image in zip(names, images, strict=True):
        write_file(folder / name, image)
    return [pixel_hash(image) for image in images]


def _at_press(out: Path, zone: str, around: FieldAtPress) -> dict:
    """The frames at the zone's press, kept beside the film, and what came after it."""
    files = [f"press_{zone}_{n}.png" for n in range(len(around.frames))]
    _keep(out, files, around.frames)
    return {
        "files": files,
        "seconds": [f.at_s for f in around.frames],
        "culprit": around.after.culprit,
        "covered": around.covered,
        "placed": around.placed,
        "after": around.after.after,
        "since": around.after.since_s,
    }


def _check_mats(attempt: Attempt) -> None:
    """Raises BadAttempt, with the likely cause, for a film without mats or without the caller's."""
    try:
        zones = sorted(find_mats(attempt).poses)
    except BadAttempt:
        if is_mirrored(attempt):
            raise BadAttempt("the film is mirrored: switch mirroring off in the camera app, or flip it back") from None
        raise
    if attempt.caller is not None and attempt.caller not in zones:
        raise BadAttempt(f"--zone {attempt.caller}: no such mat is in view, only {' and '.join(zones)}")
