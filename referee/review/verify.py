"""Is a recorded duel what was recorded? Checked from its folder alone, and against a journal where one is at hand.

``attempt.json`` holds the digest of every file; the match's record holds the name of the attempt and the digest of its
``attempt.json``, and ``journal.jsonl`` beside it is that record up to there, each line chained to the one before. Who
changes anything has to forge the whole chain, whose end score sheets print. What people said later
(``review.jsonl``) is not sealed, but its rulings stand in the journal too. A folder alone can only be consistent in
itself: that it was not made anew as a whole is vouched for by the journal, or by the operator's signature
(``signing``) where that key is asked for.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.errors import BadAttempt, RefereeError
from referee.journal.chain import Entry, check_chain
from referee.journal.journal import Journal
from referee.recording import Attempt, load_attempt
from referee.recording.folder import JOURNAL, LATE_EVENTS, META, REVIEW, SIGNATURE, UNHASHED, review_row, sha256
from referee.review.signing import signed_by
from referee.review.timeline import CACHE

SEAL = "recording_sealed"

Known = Callable[[str], Sequence[Entry]]
"""The entries of a match in a journal at hand."""


@dataclass(frozen=True)
class Checked:
    """``changed``: what is not as it was recorded, a line each; ``unsealed``: why nothing vouches for ``attempt.json``,
    or None; ``seal``: the event that does; ``signer``: the public key whose signature stands under it, or None;
    ``vouched``: whether the journal or the key that was asked for has proved it; ``seals``: of all attempts up to this;
    ``unknown``: what people said later, beside the record, that differs from the journal; ``imported``: it is of a
    film from outside, which no table seals.
    """

    changed: tuple[str, ...] = ()
    unsealed: str | None = None
    seal: Entry | None = None
    signer: str | None = None
    vouched: bool = False
    seals: tuple[Entry, ...] = ()
    unknown: tuple[str, ...] = ()
    imported: bool = False

    @property
    def consistent(self) -> bool:
        """Whether everything in the folder fits together, which who forges all of it can bring about."""
        return not self.changed and self.unsealed is None

    @property
    def whole(self) -> bool:
        """Whether everything is as it was recorded, and something outside the folder proves it."""
        return self.consistent and self.vouched and not self.unknown


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
        rows = attempt.reviews()
    except (RefereeError, OSError, ValueError, KeyError, TypeError) as error:
        return Checked((str(error),))
    entries = known(seal.match_id) if seal is not None and known is not None else ()
    recorded = seal is not None and seal in entries
    unknown = _unlike_journal(rows, attempt.meta.get("duel"), seal, entries) if seal and recorded else ()
    if seal is not None and known is not None and not recorded:
        changed.append(f"{JOURNAL}: event {seal.seq} of match {seal.match_id} is not in the journal")
    if key is not None and signer != key:
        changed.append(f"{SIGNATURE}: signed by another key" if signer else f"{SIGNATURE}: there is no signature")
    signed = key is not None and signer == key and bool(attempt.meta.get("hashes"))
    faults = tuple(dict.fromkeys(changed))
    imported = bool(attempt.meta.get("imported")) and not (attempt.folder / JOURNAL).exists()
    vouched, unsealed = signed or recorded, None if signed else unsealed
    return Checked(faults, unsealed, seal, signer, vouched, tuple(seals), tuple(unknown), imported)


def _unlike_journal(rows: Sequence[Mapping], duel: int | None, seal: Entry, entries: Sequence[Entry]) -> list[str]:
    """Rulings and fouls among the ``rows`` beside a record that these entries do not hold, and rulings on its duel
    after its seal that are not among the rows."""
    late = [entry for entry in entries if entry.event.kind in LATE_EVENTS]
    known = [review_row(e.event) for e in late if duel in (None, e.event.data.get("number", duel))]
    after = [review_row(e.event) for e in late if e.seq > seal.seq and e.event.data.get("number", 0) == duel]
    said = [row for row in rows if row.get("kind") in LATE_EVENTS.values()]
    told = [f"{_said(row)}, is not in the journal" for row in said if row not in known]
    return told + [f"{_said(row)}, is in the journal alone" for row in after if row not in said]


def _said(row: Mapping[str, Any]) -> str:
    return f"{REVIEW}: {row.get('kind')} {row.get('ruling', '')} by {row.get('who')}, {str(row.get('at'))[:16]}"


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
