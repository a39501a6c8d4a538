"""Is a recorded duel what was recorded? Checked from its folder alone, and against a journal where one is at hand.

``attempt.json`` holds the digest of every file; the match's record holds the name of the attempt and the digest of its
``attempt.json``, and ``journal.jsonl`` beside it is that record up to there, each line chained to the one before. Who
changes anything has to forge the whole chain, whose end score sheets print. What people said later
(``review.jsonl``) is not sealed. A folder alone can only be consistent in itself: that it was not made anew as a whole
is vouched for by the journal, or by the operator's signature (``signing``) where that key is asked for.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from referee.errors import RefereeError
from referee.journal.chain import Entry, check_chain
from referee.journal.journal import Journal
from referee.recording import Attempt, load_attempt
from referee.recording.errors import BadAttempt
from referee.recording.folder import JOURNAL, META, SIGNATURE, UNHASHED, sha256
from referee.review.signing import signed_by
from referee.review.timeline import CACHE

SEAL = "recording_sealed"

Known = Callable[[str], Sequence[Entry]]
"""The entries of a match in a journal at hand."""


@dataclass(frozen=True)
class Checked:
    """``changed``: what is not as it was recorded, a line each; ``unsealed``: why nothing vouches for ``attempt.json``,
    or None; ``seal``: the event that does; ``signer``: the public key whose signature stands under it, or None;
    ``vouched``: whether the journal or the key that was asked for has proved it; ``seals``: of all attempts up to this.
    """

    changed: tuple[str, ...] = ()
    unsealed: str | None = None
    seal: Entry | None = None
    signer: str | None = None
    vouched: bool = False
    seals: tuple[Entry, ...] = ()

    @property
    def consistent(self) -> bool:
        """Whether everything in the folder fits together, which who forges all of it can bring about."""
        return not self.changed and self.unsealed is None

    @property
    def whole(self) -> bool:
        """Whether everything is as it was recorded, and something outside the folder proves it."""
        return self.consistent and self.vouched


def verify(folder: str | Path, known: Known | None = None, key: str | None = None) -> Checked:
    """Check one attempt folder; with ``key`` (``signing.load_public``) it must be signed by that, and then needs no
    seal. Never raises for what is in it."""
    try:
        attempt = load_attempt(folder)
        changed = [*changed_files(attempt)]
        seals, unsealed = _seals(attempt)
        seal = seals[-1] if seals else None
        signer = None
        with suppress(BadAttempt):  # a signature that is none is told as a change
            signer = signed_by(attempt.folder)
    except (RefereeError, OSError, ValueError, KeyError, TypeError) as error:
        return Checked((str(error),))
    recorded = seal is not None and known is not None and seal in known(seal.match_id)
    if seal is not None and known is not None and not recorded:
        changed.append(f"{JOURNAL}: event {seal.seq} of match {seal.match_id} is not in the journal")
    if key is not None and signer != key:
        changed.append(f"{SIGNATURE}: signed by another key" if signer else f"{SIGNATURE}: there is no signature")
    signed = key is not None and signer == key and bool(attempt.meta.get("hashes"))
    faults = tuple(dict.fromkeys(changed))
    return Checked(faults, None if signed else unsealed, seal, signer, signed or recorded, tuple(seals))


def sealed_at_table_of(checked: Sequence[Checked], journal: Journal) -> list[Entry]:
    """Every seal in the journal's matches of the tables that these attempts are from."""
    table = journal.table_of()
    tables = {table.get(one.seal.match_id, "") for one in checked if one.seal is not None}
    matches = [match_id for match_id in journal.matches() if table.get(match_id, "") in tables]
    return [entry for match_id in matches for entry in journal.entries(match_id) if entry.event.kind == SEAL]


def missing_attempts(names: Collection[str], seals: Iterable[Entry]) -> dict[str, Entry]:
    """Attempt -> its seal, of those that were sealed and are not among ``names``."""
    sealed = {str(entry.event.data.get("attempt")): entry for entry in seals if entry.event.data.get("attempt")}
    return {name: entry for name, entry in sorted(sealed.items()) if name not in names}


def changed_files(attempt: Attempt) -> list[str]:
    """Files that are missing, are not what was recorded or were never recorded, and a record that is not the sealed
    one; empty for a recording that is still going on."""
    listed = attempt.meta.get("hashes")
    if not listed:
        return []
    found = attempt.problems()
    for path in sorted(attempt.folder.iterdir()):
        if path.is_symlink() or not path.is_file():
            found.append(f"{path.name} is no file that was recorded")
        elif path.name not in listed and path.name not in (*UNHASHED, CACHE):
            found.append(f"{path.name} was never recorded")
    try:
        signed_by(attempt.folder)
    except BadAttempt as error:
        found.append(str(error))
    if (attempt.folder / JOURNAL).exists():
        seals, why = _seals(attempt)
        found += [why] if why else []
        sealed = seals[-1].event.data if seals else {}
        if seals and sealed.get("sha256") != sha256(attempt.folder / META):
            found.append(f"{META} is not the record that was sealed")
        name = attempt.folder.resolve().name
        if sealed.get("attempt", name) != name:
            found.append(f"the seal is of attempt {sealed['attempt']}, not of {name}")
    return found


def _seals(attempt: Attempt) -> tuple[list[Entry], str | None]:
    """The events that seal attempts of the match, the last of them this record's; or none, and why."""
    if not attempt.meta.get("hashes"):
        return [], "it was never closed: no file is listed"
    path = attempt.folder / JOURNAL
    if not path.exists():
        return [], f"no {JOURNAL}: nothing vouches for {META}"
    lines = path.read_text(encoding="utf-8").splitlines()
    match_id = str(attempt.meta.get("match_id"))
    try:
        entries = list(check_chain(match_id, enumerate(lines, 1)))
    except RefereeError as error:
        return [], f"{JOURNAL}: {error}"
    if not entries or entries[-1].event.kind != SEAL:
        return [], f"{JOURNAL}: does not end with the seal of a recording"
    return [entry for entry in entries if entry.event.kind == SEAL], None
