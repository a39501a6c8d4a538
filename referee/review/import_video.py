"""From outside: an attempt of any video of a rig with mats, so that it can be judged like one of ours."""

from __future__ import annotations

import json
import shutil
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

import av
import numpy as np

from cards.deck import builtin_deck, load_deck
from cards.pieces import builtin_piece_set, load_piece_set
from referee.recording import Attempt, load_attempt
from referee.recording.errors import BadAttempt
from referee.recording.folder import DECK, EMPTY, META, PIECES, TIMES, VIDEO, hash_files, sha256, write_json
from referee.recording.video import VideoWriter, frame_seconds, read_video
from referee.recording.writer import pixel_hash, versions, write_file
from referee.review.fall import findings
from referee.review.options import Options
from referee.review.rejudge import both_views, press_row, see
from referee.review.settled_view import settled_view
from referee.review.timeline import CACHE, Timeline, timeline
from referee.review.tracks import find_mats
from referee.vision.image.view import zone_view

LEAVING_S = 0.25
"""A hand that is gone so soon after the press was only leaving."""

CARRIED_S = 0.4
"""A piece is in view this long before it stands."""


@dataclass(frozen=True)
class Given:
    """What the user says of a video. ``files``: name in the attempt folder -> path or None."""

    card: str | None = None
    stop_s: float | None = None
    go_s: float | None = None
    zone: str | None = None
    players: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str | None] = field(default_factory=dict)


def bring_in(
    video: Path, given: Given, out: Path, tick: Callable[[], object] = lambda: None, eye: str = Options.eye
) -> Attempt:
    """Make an attempt folder at ``out`` of the video (or a folder with one), judge it, and give it.

    What is not given is taken from the files beside the video. Raises RefereeError with one line that names
    what is missing or wrong; nothing is left at ``out`` then.
    """
    source = video / VIDEO if video.is_dir() else video
    if out.exists():
        raise BadAttempt(f"{out}: is there already")
    meta = _said(source, given)
    out.mkdir(parents=True)
    try:
        _copy_files(source, given, out, meta)
        copy_video(source, out)
        return _judge(out, meta, tick, eye)
    except BaseException:
        shutil.rmtree(out)
        raise


def _said(source: Path, given: Given) -> dict[str, Any]:
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
        "go": known.get("go", 0.0) if given.go_s is None else given.go_s,
        "stop": {"zone": zone, "seconds": seconds},
        "camera": source.name,
        "simulated": bool(known.get("simulated", False)),
        "imported": {"from": source.name, "sha256": sha256(source)},
        "versions": versions(),
    }


def _copy_files(source: Path, given: Given, out: Path, meta: Mapping) -> None:
    for name in given.files:
        path = Path(given.files[name] or source.with_name(name))
        if path.exists():
            shutil.copyfile(path, out / name)
    if not (out / PIECES).exists():
        write_file(out / PIECES, builtin_piece_set().to_json())
    if not (out / DECK).exists():
        write_file(out / DECK, builtin_deck().to_json())
    load_deck(out / DECK, load_piece_set(out / PIECES)).card(meta["card"])


def copy_video(source: Path, out: Path) -> None:
    """Upright H.264 in MP4 as it is; everything else encoded anew with its frame times."""
    if _is_ours(source):
        shutil.copyfile(source, out / VIDEO)
    else:
        _encode(source, out / VIDEO)
    rows = (f"{n},{seconds:.4f}" for n, seconds in enumerate(frame_seconds(out / VIDEO)))
    (out / TIMES).write_text("\n".join(["index,seconds", *rows]) + "\n", encoding="ascii")


def _is_ours(source: Path) -> bool:
    try:
        with av.open(str(source)) as container:
            codec = container.streams.video[0].codec_context.name
            upright = next(container.decode(video=0)).rotation == 0
            return upright and container.format.name.startswith("mov") and codec == "h264"
    except StopIteration:
        raise BadAttempt(f"{source}: has no frames") from None
    except (av.error.FFmpegError, IndexError) as error:
        raise BadAttempt(f"{source}: not a video that can be read ({error})") from None


def _encode(source: Path, target: Path) -> None:
    writer = None
    for frame in read_video(source):
        writer = writer or VideoWriter(target, frame.image.shape[1], frame.image.shape[0])
        writer.write(frame.image, frame.seconds)
    if writer is None:
        raise BadAttempt(f"{source}: has no frames")
    writer.close()


def _judge(out: Path, meta: dict, tick: Callable[[], object], eye: str) -> Attempt:
    """Read the time line, pick the settled view, judge it, and write the whole record."""
    write_json(out / META, meta)
    attempt = load_attempt(out)
    if attempt.stop_s is None or not 0.0 <= attempt.stop_s <= attempt.seconds[-1]:
        raise BadAttempt(f"Stop at {attempt.stop_s} s is not in a video of {attempt.seconds[-1]:.1f} s")
    story = timeline(attempt, tick)
    mats = find_mats(attempt)
    zones = sorted(mats.poses)
    judged = [attempt.caller] if attempt.caller in zones else zones
    frames, clear = _settled(attempt, mats, judged, story)
    names = ["stop.png", *(f"stop_{n}.png" for n in range(1, len(frames)))]
    for name, frame in zip(names, frames, strict=True):
        write_file(out / name, frame.image)
    meta["at_press"] = _at_press(attempt, judged, story, frames[0].seconds) if eye == Options.eye else {}
    if not (out / EMPTY).exists():
        write_file(out / EMPTY, empty_view(attempt, story))
    meta |= {
        "zones": zones,
        "piece_set": attempt.piece_set.name,
        "deck": attempt.deck.name,
        "findings": findings(story.falls),
        "cut_short": None,
        "judged": [
            {
                "files": names,
                "seconds": [f.seconds for f in frames],
                "zones": zones,
                "unobstructed": clear,
                "pixels": [pixel_hash(f.image) for f in frames],
            }
        ],
    }
    write_json(out / META, meta)
    attempt = load_attempt(out)
    options = Options(eye=eye)
    meta["verdicts"] = dict(see(attempt, attempt.card, options))
    for zone, seen in meta["at_press"].items():
        seen["row"] = press_row(attempt, zone, attempt.card, options)
    write_json(out / META, meta)
    attempt = load_attempt(out)
    said = both_views(attempt, attempt.verdicts, meta["findings"], lambda zone: meta["at_press"][zone]["row"])
    meta["findings"] = {zone: found for zone, found in said[1].items() if found}
    write_json(out / META, meta | {"hashes": hash_files(out)})
    (out / CACHE).unlink(missing_ok=True)
    return load_attempt(out)


def _at_press(attempt: Attempt, zones: list[str], story: Timeline, settled_s: float) -> dict[str, dict]:
    """Zone -> the frames just before the press, kept beside the video, where the field was touched before the settled
    view; whose hand it was nobody has seen."""
    stop, found = attempt.stop_s or 0.0, {}
    for zone in zones:
        fell = any(f.zone == zone for f in story.falls)
        hand = any(a < settled_s and b > stop + LEAVING_S for a, b in story.hands.get(zone, ()))
        if not fell and not hand:
            continue
        frames = deque((f for f in takewhile(lambda f: f.seconds <= stop, read_video(attempt.folder / VIDEO))), 1)
        files = [f"press_{zone}_{n}.png" for n in range(len(frames))]
        for name, frame in zip(files, frames, strict=True):
            write_file(attempt.folder / name, frame.image)
        covered = any(a - 0.05 <= f.seconds <= b + 0.05 for f in frames for a, b in story.hands.get(zone, ()))
        seconds = [f.seconds for f in frames]
        row = {"files": files, "seconds": seconds, "culprit": None, "covered": covered}
        found[zone] = row | {"after": "somebody" if hand else "nobody"}
    return {zone: row for zone, row in found.items() if row["files"]}


def empty_view(attempt: Attempt, story: Timeline) -> np.ndarray | None:
    """The rig before anything stood in a field, (h, w, 3) uint8: the median of up to five frames without
    hands before the first piece came; None when there are none."""
    placed = [rows[0].seconds for rows in story.placed.values() if rows]
    until = min(placed, default=attempt.stop_s or 0.0) - CARRIED_S
    busy = [span for spans in story.hands.values() for span in spans]
    quiet = [
        f.image
        for f in takewhile(lambda f: f.seconds < until, read_video(attempt.folder / VIDEO))
        if not any(a - 0.05 <= f.seconds <= b + 0.05 for a, b in busy)
    ]
    return np.median(np.stack(quiet[:5]), 0).astype(np.uint8) if quiet else None


def _settled(attempt: Attempt, mats: Any, judged: list[str], story: Timeline) -> tuple[list, bool]:
    first = next(read_video(attempt.folder / VIDEO)).image
    views = [zone_view(first, mats.camera, mats.poses[z]) for z in judged]
    return settled_view(attempt, views, [span for z in judged for span in story.hands.get(z, ())])
