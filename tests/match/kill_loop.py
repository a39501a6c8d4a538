"""Plays a match through the journal and is killed by SIGKILL at random instants, many times over.

    python kill_loop.py STORE KILLS SEED

Each life is a fork of this process: it opens the journal, goes on in the phase where the match
stands, and says each event it got acknowledged, by number and hash. After each kill the journal is
opened as a restart would, and must hold every event ever acknowledged, in a sound chain. Prints
one JSON line: kills, acknowledged events, phases in which the restart went on, what was lost.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from contextlib import closing

from referee.errors import JournalUnwritable
from referee.journal.journal import Journal
from referee.match.card_facts import CardFacts
from referee.match.commands import (
    CameraVerdict,
    CreateMatch,
    DrawCard,
    Go,
    HumanRuling,
    NextDuel,
    PressStop,
    Ready,
    Undo,
)
from referee.match.decide import decide
from referee.match.evolve import evolve, fold
from referee.match.verdict import zone_verdict

CARDS = {f"C{i:02}": CardFacts("height", i % 4 + 1, 4) for i in range(80)}
NAMES = ("Ann", "Ben", "Cem", "Dia")
OPENING_S = 0.15
"""One life in four is killed within this time, while it opens the journal on most machines."""
MOST_WRITES = 12
"""The others are killed after at most this many writes, however long a busy machine takes for them."""
MOMENT_S = 0.004
"""And at most this much later: about as long as one more write takes."""


def next_command(state, dice):
    """What a table does next; a new match after the last."""
    if state.phase in ("stopped", "judging"):
        verdict = {"verdict": dice.choice(["match", "mismatch", "undecided"]), "pieces": ["x" * 40] * 40}
        return CameraVerdict(state.duel.callers[0], zone_verdict(verdict))
    if state.phase == "decided" and dice.random() < 0.1:
        return Undo("Ref")
    return {
        "idle": DrawCard(),
        "void": DrawCard(),
        "card_drawn": Ready(),
        "ready": Go(0.0),
        "building": PressStop(dice.choice("AB"), 5.0),
        "decided": NextDuel(),
        "undecided": HumanRuling("match", "Ref", "seen"),
    }[state.phase]


def life(store: str, match_id: str, said: int, seed: int) -> None:
    """Play for ever; one line per acknowledged event."""
    dice = random.Random(seed)
    journal = Journal(store)
    os.write(said, b"open\n")
    state = fold(journal.events(match_id))
    while True:
        if state.phase == "finished":
            os.write(said, b"rest\n")
            signal.pause()
        create = CreateMatch(NAMES, seed=seed, cards=CARDS, match_id=match_id)
        events = decide(state, create if state.phase == "new" else next_command(state, dice), "2026-01-01")
        try:
            numbers = journal.append(match_id, events, after=state.seq)
        except JournalUnwritable:  # the server has just committed what the life before was killed in
            state = fold(journal.events(match_id))
            continue
        os.write(said, "".join(f"{match_id} {n}\n" for n in numbers).encode())
        for event in events:
            state = evolve(state, event)


def instant(dice: random.Random) -> tuple[int, float]:
    """When the next life is killed: after that many writes, and that many seconds."""
    if dice.random() < 0.25:
        return 0, dice.uniform(0, OPENING_S)
    return dice.randint(1, MOST_WRITES), dice.uniform(0, MOMENT_S)


def killed_life(store: str, match_id: str, seed: int, writes: int, after_s: float) -> list[str]:
    """Fork a life, kill it that long after its writes; what it had said."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            life(store, match_id, writing, seed)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        heard = []
        while writes and (line := pipe.readline()) not in ("", "rest\n"):
            heard.append(line)
            writes -= line != "open\n"
        time.sleep(after_s)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        whole = "".join(heard) + pipe.read()
    said = [line for line in whole.split("\n")[:-1] if line not in ("open", "rest")]
    if not os.WIFSIGNALED(status):
        raise SystemExit(f"a life ended by itself after saying {said[-1:]}")
    return said


def main(store: str, kills: int, seed: int) -> dict:
    """Kill that often; a new match whenever one is finished."""
    dice, acknowledged, lost, phases, matches = random.Random(seed), {}, [], Counter(), 0
    for kill in range(kills):
        match_id = f"match {matches}"
        for line in killed_life(store, match_id, seed + kill, *instant(dice)):
            name, number = line.rsplit(" ", 1)
            acknowledged[name] = int(number)
        with closing(Journal(store)) as journal:
            state = fold(journal.events(match_id))
        if state.seq < acknowledged.get(match_id, 0):
            lost.append(f"{match_id}: {state.seq} of {acknowledged[match_id]}")
        phases[state.phase] += 1
        matches += state.phase == "finished"
    with closing(Journal(store)) as journal:
        counts = journal.verify()
    lost += [f"{name}: {counts.get(name, 0)} of {n}" for name, n in acknowledged.items() if counts.get(name, 0) < n]
    return {
        "kills": kills,
        "acknowledged": sum(acknowledged.values()),
        "lost": lost,
        "phases": phases,
        "finished": matches,
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
