"""What judging one attempt again needs, as content: it travels to machines that share no disk with this one."""

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from cards.errors import RefereeError
from referee.recording import load_attempt
from referee.recording.address import AttemptSource, attempt_contents, fetched_attempt
from referee.recording.folder import DECK, JOURNAL, PIECES, REVIEW, STOP, VIDEO
from referee.review.options import RejudgeOptions
from referee.review.rejudge import judge_again
from referee.review.timeline import CACHE

FILES_NOT_JUDGED = (REVIEW, JOURNAL, CACHE)
"""What nobody judges by."""


def needed_files(options: RejudgeOptions, folder: Path, names: Sequence[str]) -> Sequence[str]:
    """Which files of an attempt are needed to judge it in this way, given the names of all; the film only where it is
    looked at. With the options it is an ``address.Which``."""
    if not (options.look or options.watch):
        return [name for name in (DECK, PIECES) if name in names]
    attempt = load_attempt(folder)
    film = attempt.film.name
    unjudged = options.look and not attempt.meta.get("judged") and STOP not in names
    films = {VIDEO, film} - ({film} if options.watch or unjudged else set())
    return [name for name in names if name not in (*films, *FILES_NOT_JUDGED)]


@dataclass(frozen=True)
class Parcel:
    """An attempt to be judged elsewhere: the content of its files (None: fetched there, by its address), and that of
    the files that the options name."""

    source: AttemptSource
    options: RejudgeOptions
    files: Mapping[str, bytes] | None
    named: Mapping[str, bytes] = field(default_factory=dict)


def named_files(options: RejudgeOptions) -> dict[str, bytes]:
    """Option -> content of the file that it names."""
    return {name: Path(path).read_bytes() for name in ("deck", "rules", "palette") if (path := getattr(options, name))}


def pack_attempt(source: AttemptSource, options: RejudgeOptions, named: Mapping[str, bytes]) -> Parcel:
    """The attempt as it is sent. Raises BadAttempt when its files cannot be read."""
    return Parcel(
        source, options, None if source.elsewhere else attempt_contents(source, partial(needed_files, options)), named
    )


def judge_parcel(sent: Parcel) -> dict:
    """The row of ``judge_again``, on whatever machine this runs; one that cannot be judged says so in ``problem``."""
    begun = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
            place = Path(scratch)
            for name, data in sent.named.items():
                (place / _file_of(name)).write_bytes(data)
            options = _renamed(sent, place)
            if sent.files is None:
                return judge_source(sent.source, options)
            folder = place / "attempt" / sent.source.name
            folder.mkdir(parents=True)
            for name, data in sent.files.items():
                (folder / Path(name).name).write_bytes(data)
            row = _judged_in(folder, sent.source, options)
            for name in sent.named if row["problem"] else ():
                row["problem"] = row["problem"].replace(str(place / _file_of(name)), str(getattr(sent.options, name)))
            return row
    except OSError as error:
        return failed_row(sent.source, f"{sent.source.address}: {error.strerror or error}", time.perf_counter() - begun)


def judge_source(source: AttemptSource, options: RejudgeOptions) -> dict:
    """The row of ``judge_again`` of an attempt wherever it lies; ``folder`` in it is its address."""
    begun = time.perf_counter()
    try:
        with fetched_attempt(source, partial(needed_files, options)) as folder:
            return _judged_in(folder, source, options)
    except RefereeError as error:
        return failed_row(source, str(error), time.perf_counter() - begun)


def failed_row(source: AttemptSource, why: str, seconds: float = 0.0) -> dict:
    """The row of an attempt that could not be judged."""
    told = {"attempt": source.name, "folder": source.address, "problem": why, "changed": False, "zones": {}}
    return told | {"seconds": round(seconds, 4)}


def _judged_in(folder: Path, source: AttemptSource, options: RejudgeOptions) -> dict:
    row = judge_again(str(folder), options) | {"folder": source.address}
    if row["problem"]:
        row["problem"] = row["problem"].replace(str(folder), source.address)
    return row


def _renamed(sent: Parcel, place: Path) -> RejudgeOptions:
    """The options, naming the files that came with them."""
    deck, rules, palette = (
        str(place / _file_of(name)) if name in sent.named else None for name in ("deck", "rules", "palette")
    )
    return replace(sent.options, deck=deck, rules=rules, palette=palette)


def _file_of(option: str) -> str:
    """A file's name for the option; rules are TOML, the others JSON."""
    return f"{option}.toml" if option == "rules" else f"{option}.json"
