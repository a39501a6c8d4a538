"""What an archive's pages and its disk budget cost: ``python tests/review/bench_archive.py [COUNT…]``.

Makes archives of COUNT small synthetic attempts (default 1,000, 10,000 and 100,000), builds the index, and prints for
each: the processor's seconds to build it and to look through it again, and milliseconds (the processor's in the middle,
of the thread that answers: the page has the archive looked through beside; then by the clock the middle and the worst
of ROUNDS) of every kind of page and of ``make_room`` with nothing to remove and with ten attempts. Exit status 1 when a
page takes more than MOST_PAGE_MS or ``make_room`` more than MOST_ROOM_MS of the processor's time in the middle: by the
clock a busy machine says nothing.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "web"))

from fake_session import FakeSession

from cards.deck import builtin_deck
from cards.pieces import builtin_piece_set
from referee.recording import Budget
from referee.recording.index import Index
from referee.recording.retention import make_room
from referee.web.app import create_app

MOST_PAGE_MS, MOST_ROOM_MS = 300.0, 10.0
ROUNDS = 7
LINKS = 50_000
"""A file may have 65,000 names in ext4."""

PLAYERS, DUELS = 40, 18
"""Who plays in the synthetic archive, and duels of a match."""

FIRST = datetime(2020, 1, 1, 19, tzinfo=UTC)


class Took(NamedTuple):
    """Milliseconds of the processor and by the clock."""

    processor: float
    clock: float


@dataclass
class Figures:
    """``build_s``, ``again_s``: the processor's, the index made and looked through; ``ms``: of what -> milliseconds."""

    build_s: float = 0.0
    again_s: float = 0.0
    ms: dict[str, list[Took]] = field(default_factory=dict)


def archive(root: Path, count: int, seed: int = 1) -> None:
    """COUNT attempts of matches of DUELS, with verdicts, a tenth of them undecided, close or reviewed."""
    chance, deck = random.Random(seed), builtin_deck()
    root.mkdir(parents=True)
    shared = {"deck.json": deck.to_json(), "pieces.json": builtin_piece_set().to_json()}
    pieces = [{"shape": "cube", "color": "blue", "x": 1.0, "y": 2.0, "z": 15.0, "rests_on": []}] * 6
    for n in range(count):
        match, duel = f"M{n // DUELS:05d}", n % DUELS + 1
        one, two = (f"P{number}" for number in chance.sample(range(PLAYERS), 2))
        row = {"verdict": "match" if n % 3 else "mismatch", "confidence": 0.9 + 0.1 * chance.random(), "pieces": pieces}
        row |= {"verdict": "undecided"} if n % 20 == 3 else {"confidence": 0.8} if n % 20 == 5 else {}
        meta = {"card": deck.cards[n % len(deck.cards)].id, "match_id": match, "duel": duel, "award": one}
        meta |= {"players": {"A": one, "B": two}, "verdicts": {"A": row, "B": row}, "zones": ["A", "B"]}
        meta |= {"recorded_at": (FIRST + timedelta(hours=n)).isoformat(), "go": 2.0, "cut_short": None}
        folder = root / f"{match}-{duel:03d}"
        folder.mkdir()
        (folder / "attempt.json").write_text(json.dumps(meta | {"stop": {"zone": "A", "seconds": 9.0}}))
        for name, told in shared.items():
            first = root.parent / f"{n // LINKS} {name}"
            if not first.exists():
                first.write_text(json.dumps(told))
            os.link(first, folder / name)
        if n % 20 == 7:
            (folder / "review.jsonl").write_text(json.dumps({"kind": "reviewed", "who": "Eve"}) + "\n")


def timed(call: Callable[[], object]) -> Took:
    """Milliseconds of a call."""
    begun, processor = time.perf_counter(), time.thread_time()
    call()
    return Took(1000 * (time.thread_time() - processor), 1000 * (time.perf_counter() - begun))


def measure(data: Path, count: int) -> Figures:
    """Make the archive under ``data`` and measure all of it."""
    root, found = data / "attempts", Figures()
    archive(root, count)
    index = Index(root)
    found.build_s = timed(index.refresh).processor / 1000
    found.again_s = timed(lambda: index.refresh(thorough=True)).processor / 1000
    session = FakeSession(simulated=False)
    session.data_dir = data
    client = create_app(session).test_client()
    middle = f"M{count // DUELS // 2:05d}"
    pages = {
        "/attempts": "/attempts",
        "the last page": "/attempts?page=999999",
        "of a player": "/attempts?player=P7",
        "of a card": f"/attempts?card={builtin_deck().cards[5].id}",
        "undecided": "/attempts?show=undecided",
        "overruled": "/attempts?show=overruled",
        "not reviewed": "/attempts?show=unreviewed&verdict=mismatch",
        "one attempt": f"/attempts/{middle}-003",
    }
    for name, address in pages.items():
        assert client.get(address).status_code == 200, address
        found.ms[name] = [timed(lambda a=address: client.get(a)) for _ in range(ROUNDS)]
    new = root / "M99999-001"
    for n in range(ROUNDS):
        archive_one(new.with_name(f"M99999-{n:03d}"))
        found.ms.setdefault("after a new duel", []).append(timed(lambda: client.get("/attempts")))
    found.ms |= room(root, index)
    index.close()
    return found


def archive_one(folder: Path) -> None:
    """One more attempt."""
    folder.mkdir()
    (folder / "attempt.json").write_text(json.dumps({"card": "L01", "players": {"A": "New", "B": "Newer"}}))


def room(root: Path, index: Index) -> dict[str, list[Took]]:
    """Milliseconds of ``make_room`` with nothing to remove, and with ten attempts each."""
    now, plenty = FIRST + timedelta(days=10_000), 1 << 50
    idle = [timed(lambda: make_room(root, Budget(plenty, 0), now, index, plenty)) for _ in range(ROUNDS)]
    busy = []
    for _ in range(ROUNDS):
        ten = index.total_bytes() - sum(size for _, (_, _, size) in zip(range(10), index.may_go(), strict=False))
        busy.append(timed(lambda most=ten: make_room(root, Budget(most, 0), now, index, plenty)))
    return {"make_room": idle, "make_room, ten go": busy}


def main(counts: list[int]) -> int:
    """Print the figures; gives the exit status."""
    late = []
    for count in counts:
        with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
            found = measure(Path(scratch), count)
        print(f"{count} attempts: index built in {found.build_s:.1f} s, looked through again in {found.again_s:.2f} s")
        for name, ms in found.ms.items():
            most = MOST_ROOM_MS if name.startswith("make_room") else MOST_PAGE_MS
            processor = statistics.median(took.processor for took in ms)
            late += [f"{count}: {name}"] if processor > most else []
            clock = sorted(took.clock for took in ms)
            said = f"{processor:8.1f} ms, by the clock {statistics.median(clock):8.1f}, worst {clock[-1]:8.1f}"
            print(f"  {name:20}{said}{'  <- TOO SLOW' if processor > most else ''}", flush=True)
    return int(bool(late))


if __name__ == "__main__":
    sys.exit(main([int(word) for word in sys.argv[1:]] or [1_000, 10_000, 100_000]))
