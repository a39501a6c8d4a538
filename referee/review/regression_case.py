"""A disputed call becomes a regression test: its judged frames and what is right, small enough to commit."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from cards.sentences import sentence
from referee.errors import BadAttempt
from referee.recording import Attempt
from referee.recording.folder import CAMERA, DECK, EMPTY, META, PALETTE, PIECES, STOP, write_json
from referee.recording.writer import truncation_record

TRUTH = "truth.json"


def expected_rulings(attempt: Attempt, said: Mapping[str, str]) -> dict[str, str]:
    """Zone -> the right ruling: what is ``said``, else a human's ruling, else the recorded verdict."""
    right = {z: row["verdict"] for z, row in attempt.verdicts.items()}
    reviewed = [r for r in attempt.reviews() if r.get("kind") == "ruling"]
    for ruling in [*(attempt.meta.get("human") or ()), *reviewed]:
        zone = ruling.get("zone") or attempt.caller
        if zone and ruling.get("ruling") in ("match", "mismatch"):
            right[zone] = ruling["ruling"]
    return right | dict(said)


def keep_case(attempt: Attempt, golden: Path, said: Mapping[str, str]) -> Path:
    """Copy what judging needs, and the right rulings as ``truth.json``, under ``golden``; gives the folder.

    The video stays behind. Raises BadAttempt when the case is there already or nothing was ruled.
    """
    right, target = expected_rulings(attempt, said), golden / attempt.name
    if not right:
        raise BadAttempt(f"{attempt.folder}: no verdict to keep, say what is right with --expect")
    if target.exists():
        raise BadAttempt(f"{target}: is there already")
    target.mkdir(parents=True)
    judged = [n for row in attempt.meta.get("judged") or () for n in row["files"]] or [STOP]
    for name in [*judged, CAMERA, PALETTE, PIECES, DECK, EMPTY]:
        if (attempt.folder / name).exists():
            shutil.copyfile(attempt.folder / name, target / name)
    kept = ("card", "zones", "judged", "verdicts", "stop", "rules", "findings", "simulated", "versions")
    write_json(
        target / META,
        {k: attempt.meta[k] for k in kept if k in attempt.meta} | truncation_record(sentence("cut_kept")),
    )
    write_json(target / TRUTH, {"card": attempt.meta["card"], "expected": right})
    return target
