"""The host's half of the conversation against the simulated box over a line with every fault: what is told wrongly?

    nice python tests/devices/bench_box_fuzz.py --faults 100000

Prints one line for each kind of line and the sums. *Forged* is a press that nobody made, *wrong player* one whose
button is another's, *lost* one that was never told, *doubled* one told twice, *bound* a host time outside its own
error bound. *Late* is told more than 1.5 s after the edge; *late, line alive* while at least half of the lines of
those seconds were whole.
"""

from __future__ import annotations

import argparse
import heapq
import random
from collections import Counter
from dataclasses import dataclass, field

from referee.devices.box_conversation import BoxTalk
from referee.kernels.button_box import Firmware

STEP_S = 0.004
LATE_S = 1.5
DUEL_S = 1.6
GIVE_UP_S = 12.0
TO_BOX, TO_HOST = 0, 1


@dataclass(frozen=True)
class Faults:
    """Shares of the lines that suffer it; ``flip`` and ``garble`` are shares of the bytes."""

    drop: float = 0.0
    double: float = 0.0
    merge: float = 0.0
    cut: float = 0.0
    reorder: float = 0.0
    noise: float = 0.0
    flip: float = 0.0
    garble: float = 0.0
    latency_s: tuple[float, float] = (0.001, 0.003)


KINDS = {
    "clean": Faults(),
    "20 % dropped": Faults(drop=0.2),
    "30 % doubled": Faults(double=0.3),
    "15 % run together": Faults(merge=0.15),
    "15 % cut short": Faults(cut=0.15),
    "20 % out of order": Faults(reorder=0.2),
    "30 % with noise behind": Faults(noise=0.3),
    "0.2 % of the bytes with a wrong bit": Faults(flip=2e-3),
    "1 % of the bytes with a wrong bit": Faults(flip=1e-2),
    "1 % of the bytes random": Faults(garble=1e-2),
    "everything at once": Faults(0.08, 0.1, 0.05, 0.05, 0.05, 0.1, 2e-3, 1e-3),
    "0 to 60 ms of delay and 10 % dropped": Faults(drop=0.1, latency_s=(0.0, 0.06)),
}


@dataclass
class Line:
    """Both directions of a serial line. ``seen`` are (time, whole?) of every line written to it."""

    faults: Faults
    rng: random.Random
    seen: list[tuple[float, bool]] = field(default_factory=list)
    _free_s: list[float] = field(default_factory=lambda: [0.0, 0.0])
    _held: list[bytes] = field(default_factory=lambda: [b"", b""])
    _under_way: list[list[tuple[float, int, bytes]]] = field(default_factory=lambda: [[], []])
    _count: int = 0

    def send(self, data: bytes, way: int, now_s: float) -> None:
        """A line is written."""
        torn = self._torn(data)
        self.seen.append((now_s, torn == data))
        if self.rng.random() < self.faults.reorder and not self._held[way]:
            self._held[way] = torn
            self.seen[-1] = (now_s, False)
            return
        torn, self._held[way] = torn + self._held[way], b""
        self._free_s[way] = max(self._free_s[way], now_s + self.rng.uniform(*self.faults.latency_s))
        self._count += 1
        heapq.heappush(self._under_way[way], (self._free_s[way], self._count, torn))

    def arrived(self, way: int, now_s: float) -> bytes:
        """What has come through."""
        data = b""
        while self._under_way[way] and self._under_way[way][0][0] <= now_s:
            data += heapq.heappop(self._under_way[way])[2]
        return data

    def _torn(self, data: bytes) -> bytes:
        f, happens = self.faults, lambda share: share > 0 and self.rng.random() < share
        if happens(f.drop):
            return b""
        data = data * 2 if happens(f.double) else data
        data = data[:-2] if happens(f.merge) else data
        data = data[: self.rng.randrange(len(data))] if happens(f.cut) else data
        if f.flip or f.garble:
            data = bytes(self._byte(byte) for byte in data)
        return data + self.rng.randbytes(self.rng.randrange(1, 60)) if happens(f.noise) else data

    def _byte(self, byte: int) -> int:
        if self.rng.random() < self.faults.flip:
            byte ^= 1 << self.rng.randrange(8)
        return self.rng.randrange(256) if self.rng.random() < self.faults.garble else byte


class Game:
    """One box and one host, duel after duel. ``count`` is what went wrong."""

    def __init__(self, faults: Faults, seed: int) -> None:
        self.rng = random.Random(seed)
        self.line = Line(faults, self.rng)
        self.now_s = 1000.0
        self._zero_s = self.now_s - self.rng.uniform(0, 50)
        self._rate = 1 + self.rng.uniform(-0.005, 0.005)
        self.box = Firmware()
        self.box.start("BOX1", 7, 0, 1, self.us(self.now_s))
        self.talk = BoxTalk()
        self.talk.begin(self.now_s)
        self.count: Counter[str] = Counter()
        self._edges: list[tuple[float, int, bool]] = []
        self._pressed: list[tuple[int, float]] = []  # player, when: not told yet
        self._told: set[tuple[int, int]] = set()
        self._gone = False

    def us(self, at_s: float) -> int:
        """The box's clock."""
        return int((at_s - self._zero_s) * self._rate * 1e6)

    def step(self) -> None:
        """A few milliseconds pass."""
        self.now_s += STEP_S
        while self._edges and self._edges[0][0] <= self.now_s:
            at_s, button, closed = heapq.heappop(self._edges)
            self.box.edge(button, closed, self.us(at_s))
        lines = self.box.hear(self.line.arrived(TO_BOX, self.now_s), self.us(self.now_s))
        lines += self.box.poll(self.us(self.now_s))
        for line in lines.splitlines(keepends=True):
            self.line.send(line, TO_HOST, self.now_s)
        for notice in self.talk.hear(self.line.arrived(TO_HOST, self.now_s), self.now_s):
            self._hear(notice)
        if self.talk.met and self.talk.silent(self.now_s):
            self.count["silences"] += 1
            self.talk.end()
            self.talk.begin(self.now_s)
        for sentence in self.talk.due(self.now_s):
            self.talk.wrote(sentence, self.now_s)
            self.line.send(sentence.encode(), TO_BOX, self.now_s)

    def until(self, holds, timeout_s: float) -> bool:
        """Let time pass until it holds."""
        end_s = self.now_s + timeout_s
        while not holds() and self.now_s < end_s:
            self.step()
        return holds()

    def duel(self) -> None:
        """A go, two presses, and the wait until both are told."""
        self._gone = False
        if not self.until(lambda: self.talk.met, GIVE_UP_S):
            return
        self.talk.command("RFARM", now_s=self.now_s)
        self.talk.command("RFGOO", *((0,) if self.talk.protocol > 1 else ()), now_s=self.now_s)
        if not self.until(lambda: self._gone, DUEL_S):
            self.count["no go in time"] += 1
            return
        first, second = self.rng.sample([0, 1], 2)
        at_s = self.now_s + self.rng.uniform(0.15, 0.3)
        for player, when_s in ((first, at_s), (second, at_s + self.rng.choice([0.001, 0.006, 0.02, 0.05]))):
            heapq.heappush(self._edges, (when_s, player, True))
            heapq.heappush(self._edges, (when_s + 0.08, player, False))
            self._pressed.append((player, when_s))
        self.count["presses"] += 2
        self.until(lambda: not self._pressed, GIVE_UP_S)
        self.count["lost"] += len(self._pressed)
        self._pressed.clear()
        self.until(lambda: False, 0.3)

    def _hear(self, notice) -> None:
        self._gone |= notice.kind == "go"
        if notice.kind not in ("press", "tried"):
            return
        box_us = notice.press.box_us
        match = [p for p in self._pressed if abs(self.us(p[1]) - box_us) < 3]
        if not match:
            again = (notice.player, box_us) in self._told
            self.count["doubled" if again else "forged"] += 1
            return
        player, at_s = match[0]
        self._pressed.remove(match[0])
        self._told.add((player, box_us))
        self.count["wrong player"] += player != notice.player
        self.count["bound broken"] += abs(notice.at_s - at_s) > notice.error_s + 2e-6
        self._punctual(at_s)

    def _punctual(self, at_s: float) -> None:
        if self.now_s - at_s <= LATE_S:
            return
        self.count["late"] += 1
        meanwhile = [whole for when_s, whole in self.line.seen if when_s >= at_s]
        self.count["late, line alive"] += 2 * sum(meanwhile) >= len(meanwhile)


WRONG = ("forged", "lost", "doubled", "wrong player", "bound broken", "late, line alive")
COLUMNS = ("lines", "faulty", "presses", *WRONG, "late", "no go in time", "silences")


def bench(faults: Faults, wanted: int, seed: int) -> Counter[str]:
    """Plays duels until so many lines were faulty (or so many written, where none is); gives the counts."""
    total: Counter[str] = Counter()
    while (total["faulty"] if faults != Faults() else total["lines"]) < wanted:
        game = Game(faults, seed)
        for _ in range(25):
            game.duel()
        total += game.count
        total["lines"] += len(game.line.seen)
        total["faulty"] += sum(not whole for _, whole in game.line.seen)
        seed += 1
    return total


def main() -> None:
    """Play all kinds of line; exit status 1 when anything was told wrongly."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=100_000, help="faulty lines in all")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    total: Counter[str] = Counter()
    for n, (name, faults) in enumerate(KINDS.items()):
        count = bench(faults, -(-options.faults // (len(KINDS) - 1)), options.seed + 1000 * n)
        total += count
        print(f"{name}: " + ", ".join(f"{count[column]} {column}" for column in COLUMNS), flush=True)
    print("ALL: " + ", ".join(f"{total[column]} {column}" for column in COLUMNS))
    raise SystemExit(any(total[column] for column in WRONG))


if __name__ == "__main__":
    main()
