"""Is a recorded duel what was recorded? Checked from its folder alone, and against a journal where one is at hand.

``attempt.json`` holds the digest of every file; the match's record holds the digest of ``attempt.json``, and
``journal.jsonl`` beside it is that record up to there, each line chained to the one before. Who changes anything has to
forge the whole chain, whose end score sheets print. What people said later (``review.jsonl``) is not sealed. Where an
operator has signed the record (``signing``), the signature must be of what is there, and of the key that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.errors import RefereeError
from referee.journal.chain import Entry, check_chain
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
    or None; ``seal``: the event that does; ``signer``: the public key whose signature stands under it, or None."""

    changed: tuple[str, ...] = ()
    unsealed: str | None = None
    seal: Entry | None = None
    signer: str | None = None

    @property
    def whole(self) -> bool:
        """Whether everything is as it was recorded, and that is proven."""
        return not self.changed and self.unsealed is None


def verify(folder: str | Path, known: Known | None = None, key: str | None = None) -> Checked:
    """Check one attempt folder; with ``key`` (``signing.load_public``) it must be signed by that, and then needs no
    seal. Never raises for what is in it."""
    try:
        attempt = load_attempt(folder)
        changed = [*changed_files(attempt)]
        seal, unsealed = _seal(attempt)
        signer = _signer(attempt)
    except (RefereeError, OSError, ValueError, KeyError, TypeError) as error:
        return Checked((str(error),))
    if seal is not None and known is not None and seal not in list(known(seal.match_id)):
        changed.append(f"{JOURNAL}: event {seal.seq} of match {seal.match_id} is not in the journal")
    if key is not None and signer != key:
        changed.append(f"{SIGNATURE}: signed by another key" if signer else f"{SIGNATURE}: there is no signature")
    vouched = key is not None and signer == key and bool(attempt.meta.get("hashes"))
    return Checked(tuple(dict.fromkeys(changed)), None if vouched else unsealed, seal, signer)


def _signer(attempt: Attempt) -> str | None:
    """Who signed the record; None where nobody did, or where the signature is not one: that is told as a change."""
    try:
        return signed_by(attempt.folder)
    except BadAttempt:
        return None


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
        seal, why = _seal(attempt)
        found += [why] if seal is None and why else []
        if seal is not None and seal.event.data.get("sha256") != sha256(attempt.folder / META):
            found.append(f"{META} is not the record that was sealed")
    return found


def _seal(attempt: Attempt) -> tuple[Entry | None, str | None]:
    """The event that seals the record, or why there is none."""
    if not attempt.meta.get("hashes"):
        return None, "it was never closed: no file is listed"
    path = attempt.folder / JOURNAL
    if not path.exists():
        return None, f"no {JOURNAL}: nothing vouches for {META}"
    lines = path.read_text(encoding="utf-8").splitlines()
    match_id = str(attempt.meta.get("match_id"))
    try:
        entries = list(check_chain(match_id, enumerate(lines, 1)))
    except RefereeError as error:
        return None, f"{JOURNAL}: {error}"
    last = entries[-1] if entries else None
    if last is None or last.event.kind != SEAL:
        return None, f"{JOURNAL}: does not end with the seal of a recording"
    return last, None
