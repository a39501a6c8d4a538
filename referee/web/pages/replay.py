"""The last seconds around the press, for the board: a clip of the attempt's video, once that is whole.

The public gets those seconds and never the recording.
"""

import io
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import flask

from referee.errors import BadAttempt
from referee.match.foul import FoulNoted
from referee.recording.folder import VIDEO, Attempt, load_attempt, of_camera
from referee.recording.index import Index
from referee.recording.video import Clip, cut_clip
from referee.session.session import Session
from referee.web.pages.attempt_archive import READ_AT_ONCE_S
from referee.web.security import public

BEFORE_S, AFTER_S = 2.5, 0.8
"""What is shown around the press, in seconds of video time."""

MOST_DUELS = 10**6
"""No match has a duel of a higher number, and the archive's index finds none beyond 2^63."""

FOUL_S = 2.0
"""So much is shown around the beginning of a foul."""


@dataclass(frozen=True)
class Replay:
    """Where the video lies and which seconds of it are shown."""

    path: Path
    begin_s: float
    end_s: float

    def clip(self) -> Clip:
        """Those seconds as a video of their own, cut once. Raises BadAttempt when the video cannot be read."""
        stamp = self.path.stat().st_mtime_ns if self.path.is_file() else 0
        return _cut(self.path, stamp, self.begin_s, self.end_s)


@lru_cache(8)
def _cut(path: Path, stamp: int, begin_s: float, end_s: float) -> Clip:
    return cut_clip(path, begin_s, end_s)


def find(data_dir: Path, match_id: str, number: int) -> Replay | None:
    """The replay of the match's duel of that number, by the second camera's film where the first's lacks the Stop;
    None until its recording is finished."""
    for folder in reversed(_recordings(data_dir / "attempts", match_id, number)):
        try:
            for view in load_attempt(folder).views:
                stop_s = view.stop_s
                if stop_s is None or view.cut_short or not _shows(view, stop_s):
                    continue
                film, press_s = folder / of_camera(VIDEO, view.number), stop_s - view.begins_s
                return Replay(film, max(0.0, press_s - BEFORE_S), press_s + AFTER_S)
        except BadAttempt:
            continue
    return None


def _shows(view: Attempt, stop_s: float) -> bool:
    """Whether that camera filmed the seconds before the Stop."""
    return any(0.0 <= stop_s - seconds < BEFORE_S for seconds in view.seconds)


def _recordings(root: Path, match_id: str, number: int) -> list[Path]:
    """The recordings of one duel, oldest first, by the archive's index."""
    if not root.is_dir():
        return []
    with closing(Index(root)) as index:
        end_s = time.monotonic() + READ_AT_ONCE_S
        known = index.of_duel(match_id, number)
        if not known or not all(folder.exists() for folder in known):  # the recorder puts in what it records
            index.refresh(enough=lambda *_: time.monotonic() > end_s)
        return index.of_duel(match_id, number)


def of_foul(session: Session, foul: FoulNoted) -> Replay | None:
    """The two seconds around a foul that the camera has proposed; None without one, or while the duel is recorded."""
    found = find(session.data_dir, session.state.match_id, foul.duel) if foul.seen else None
    if found is None or not foul.seen:
        return None
    at_s = (load_attempt(found.path.parent).go_s or 0.0) + foul.seen.after_go_s
    return Replay(found.path, max(0.0, at_s - FOUL_S / 2), at_s + FOUL_S / 2)


def address(session: Session, duel: Mapping[str, Any]) -> dict[str, Any] | None:
    """For the board: the replay's address and seconds; None while there is none; without ``src`` when it is broken."""
    if duel["phase"] not in ("decided", "void") or not duel["callers"]:
        return None
    found = find(session.data_dir, session.state.match_id, duel["number"])
    if found is None:
        return None
    try:
        clip = found.clip()
    except BadAttempt:
        return {"src": None, "begin": 0, "end": 0}
    begin_s = found.begin_s - clip.offset_s
    return {
        "src": f"/media/replay/{duel['number']}.mp4",
        "begin": round(begin_s, 3),
        "end": round(begin_s + found.end_s - found.begin_s, 3),
    }


def blueprint(session: Session) -> flask.Blueprint:
    """The seconds around the press of a duel of the present match, by its number; ranges are served."""
    pages = flask.Blueprint("replay", __name__, url_prefix="/media/replay")

    @pages.get(f"/<int(max={MOST_DUELS}):number>.mp4")
    @public
    def video(number: int) -> flask.Response:
        return _sent(find(session.data_dir, session.state.match_id, number), "there is no such replay")

    @pages.get("/foul/<int:index>.mp4")
    def foul(index: int) -> flask.Response:
        fouls = session.state.fouls
        return _sent(of_foul(session, fouls[index]) if index < len(fouls) else None, "there is no such clip")

    return pages


def _sent(replay: Replay | None, refusal: str) -> flask.Response:
    """The clip, or 404."""
    try:
        clip = replay.clip().data if replay else None
    except BadAttempt:
        clip = None
    if clip is None:
        flask.abort(404, refusal)
    return flask.send_file(io.BytesIO(clip), mimetype="video/mp4", conditional=True)
