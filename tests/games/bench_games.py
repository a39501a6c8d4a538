"""Many random games of each module, and many illegal commands: what is counted must be without exception.

python tests/games/bench_games.py [--games 10000] [--refused 100000] [--only city_towers] [--first 1000]

Each game must end, conserve every card, chip and stone at every step, fold from its log to the same state, and be
recounted to the same scoring panel, line by line (who, how many, rank, points, shared), which adds up to the score.
Prints the counts; the exit status says whether all held.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from playing import play, refuse_some, reread
from recount import panel, panel_sums, recount

from referee.games.catalogue import GAMES
from referee.games.match import fold


def games(name: str, count: int, first: int) -> dict[str, int]:
    """Play that many; how many did what they must."""
    tally = dict.fromkeys(("games", "commands", "conserved", "replayed", "recounted", "lines"), 0)
    for seed in range(first, first + count):
        kept = []

        def look(match, rng, kept=kept):
            kept.append(match.game.pieces(match.state) == match.game.deck(match.state))

        match, events = play(name, seed, look)
        tally["games"] += 1
        tally["commands"] += len(match.played)
        tally["conserved"] += all(kept)
        tally["replayed"] += fold(reread(events)) == match
        shown, scores = match.view(None), list(match.game.scores(match.state))
        tally["recounted"] += recount(name, events) == panel(shown) and panel_sums(shown)[: len(scores)] == scores
        tally["lines"] += sum(len(lines) for _, lines in panel(shown))
    return tally


def refused(name: str, count: int, first: int) -> int:
    """Ask until that many commands were refused; each must give a reason and change nothing."""
    said = 0
    for seed in range(first, first + 10**6):
        if said >= count:
            break
        rows = []
        play(name, seed, lambda match, rng, rows=rows: rows.append(refuse_some(match, rng, 20)))
        said += sum(rows)
    return said


def main() -> int:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--refused", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=1000, help="The first seed.")
    parser.add_argument("--only", choices=list(GAMES))
    options, good = parser.parse_args(), True
    for name in [options.only] if options.only else list(GAMES):
        began = time.monotonic()
        tally = games(name, options.games, options.first)
        good &= all(tally[what] == options.games for what in ("conserved", "replayed", "recounted"))
        print(f"{name}: {tally}, {time.monotonic() - began:.0f} s", flush=True)
        began = time.monotonic()
        print(
            f"{name}: {refused(name, options.refused, options.first)} refused, {time.monotonic() - began:.0f} s",
            flush=True,
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
