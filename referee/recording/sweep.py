"""What a program that was killed has left in an archive: put in order when the next one starts."""

import shutil
from pathlib import Path

from cards.sentences import sentence
from referee.errors import BadAttempt
from referee.files import torn
from referee.recording.folder import DELETED_PREFIX, META, VIDEO, load_attempt, write_json
from referee.recording.index import Index
from referee.recording.video import cut_to_whole
from referee.recording.writer import NO_RECORD, UNFINISHED, truncation_record

LOOKED_AT = 20
"""So many of the latest recordings are looked at after a start: a power cut reaches no further back."""

HEAD_BYTES = 1 << 16
"""The first fragment begins within so much: before it stands a header of about a kilobyte."""

RECORDING_SUFFIXES = (".csv", ".png", ".json", ".yaml", ".jsonl", ".tmp")
"""What a recording consists of beside its video; a folder with anything else in it is not ours to remove."""

NO_PICTURE_WRITTEN = sentence("cut_lost")


def sweep(root: Path, index: Index) -> list[str]:
    """Put in order what was not finished, while nothing is being recorded; gives the folders that were touched.

    Drafts, set-aside space and what was on its way out go. A folder with a video and no record gets one that says so,
    one with neither goes. A torn video is cut back to what is whole; where nothing is, the record says that it is lost.
    ``index`` says which attempts have to be looked at.
    """
    touched = [child.name for child in sorted(root.iterdir()) if child.is_dir() and _ordered(child)]
    index.refresh(thorough=True)
    touched += [left.name for folder in index.folders() if folder != root for left in _gone(folder)]
    touched += [folder.name for folder in index.loose() if _finished(folder)]
    index.refresh()
    return touched


def torn_recordings(index: Index) -> list[str]:
    """Of the latest recordings those that a power cut or a full disk has left with an empty or unwritten file."""
    return [folder.name for folder in dict.fromkeys((*index.loose(), *index.latest(LOOKED_AT))) if _is_torn(folder)]


def _is_torn(folder: Path) -> bool:
    try:
        return torn(folder / META) or any(map(torn, load_attempt(folder).recorded()))
    except (BadAttempt, OSError):  # gone meanwhile, or another user's: no reason not to record the next duel
        return False


def _gone(folder: Path) -> list[Path]:
    """What had been taken out to make room and was not deleted yet; deleted now."""
    left = sorted(folder.glob(f"{DELETED_PREFIX}*"))
    for one in left:
        shutil.rmtree(one, ignore_errors=True)
    return left


def _ordered(folder: Path) -> bool:
    """Whether a draft or a folder without a record had to be dealt with."""
    if folder.name.startswith("."):
        shutil.rmtree(folder, ignore_errors=True)
        return True
    if (folder / META).exists() or any(child.is_dir() for child in folder.iterdir()):
        return False
    if (folder / VIDEO).exists():
        write_json(folder / META, {"card": None} | truncation_record(NO_RECORD))
        return True
    if not all(child.suffix in RECORDING_SUFFIXES for child in folder.iterdir()):
        return False
    shutil.rmtree(folder)
    return True


def _finished(folder: Path) -> bool:
    """Whether an unfinished recording had to be put in order."""
    drafts = list(folder.glob("*.tmp"))
    for draft in drafts:
        draft.unlink()
    try:
        attempt = load_attempt(folder)
    except BadAttempt:
        return bool(drafts)  # it stays as it is, for a human to look at
    if attempt.cut_short not in (UNFINISHED, NO_RECORD):
        return bool(drafts)
    for video in folder.glob("*.mp4"):
        cut_to_whole(video)
    if not _has_pictures(folder / VIDEO):
        write_json(folder / META, {**attempt.meta, **truncation_record(NO_PICTURE_WRITTEN)})
    return True


def _has_pictures(video: Path) -> bool:
    """Whether the fragmented MP4 holds a fragment: media data after its header (ISO 14496-12)."""
    if not video.exists():
        return False
    with open(video, "rb") as file:
        return b"moof" in file.read(HEAD_BYTES)
