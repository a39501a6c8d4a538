"""Appends events to a journal on a disk that fills up: a limit on file size stands for the disk.

    python fill_disk.py STORE BYTES

Prints one JSON line: events acknowledged, the refusal, and how many more went in after room was made.
"""

from __future__ import annotations

import json
import resource
import sys

from referee.errors import JournalUnwritable
from referee.events import Event
from referee.journal.journal import Journal


def main(store: str, limit: int) -> dict:
    """Write until refused, make room, write on."""
    journal = Journal(store)
    journal.append("m", [Event("foul", {"n": 0})])
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    acknowledged, refusal = 1, ""
    while not refusal:
        try:
            journal.append("m", [Event("foul", {"n": acknowledged, "text": "x" * 5000})], after=acknowledged)
            acknowledged += 1
        except JournalUnwritable as error:
            refusal = str(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    later = len(journal.append("m", [Event("foul", {"n": acknowledged})] * 3, after=acknowledged))
    journal.close()
    return {"acknowledged": acknowledged, "refusal": refusal, "later": later}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]))))
