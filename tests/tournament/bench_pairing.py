"""Swiss pairings beside py4swiss's, an independent engine of FIDE's Dutch system, its colours left out.

    python tests/tournament/bench_pairing.py [TOURNAMENTS] [FIRST SEED]      1000 from 1000000 by default

Both pair the same rounds, py4swiss from what ``to_trf`` exports: fields of 5 to 40 of mixed strength, some of whom
leave, come late, come back or sit out. Prints the sums of both, in how many rounds each was worse, and how often both
did the same. Raises when the export cannot be read back.
"""

from __future__ import annotations

import math
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from organised import Organised
from py4swiss.engines import DutchEngine
from py4swiss.engines.common import ColorPreference, ColorPreferenceSide, ColorPreferenceStrength, PairingError
from py4swiss.engines.dutch import player as dutch_player
from py4swiss.trf import TrfParser

from referee.errors import IllegalCommand
from referee.tournament.commands import Enter, GameEnds, Leave, PairRound, Return, SitOut
from referee.tournament.pairing import floats_of, meeting_counts
from referee.tournament.standings import points, ranked_entrants
from referee.tournament.state import GameResult, ResultRow
from referee.web.hall.export import to_trf

Pairs = list[tuple[int, int]]
NO_COLOR = ColorPreference(side=ColorPreferenceSide.NONE, strength=ColorPreferenceStrength.NONE)
RATES = {"calm": (0.0, 0.0), "lively": (0.04, 0.03)}
"""How likely somebody comes or goes, and sits out, in a round."""


class Evening(Organised):
    """A Swiss of a seed."""

    def __init__(self, seed: int) -> None:
        dice = random.Random(seed)
        size = dice.randint(5, 40)
        names = [f"P{n}" for n in range(size)]
        super().__init__(
            names, tables=20, seed=seed, rounds=max(3, min(dice.choice((5, 6, 7, 9)), 2 * (size - 1) // 3))
        )
        self.dice, self.draws = dice, dice.choice((0.0, 0.1, 0.3))
        self.moves, self.sits = RATES[dice.choice(sorted(RATES))]
        self.strength = sorted((dice.gauss(0, 1) for _ in range(2 * size)), reverse=True)

    def comings_and_goings(self) -> None:
        """Before a pairing."""
        for player, entrant in enumerate(self.state.entrants):
            try:
                if self.dice.random() < self.moves:
                    self.do(Leave(player, "home") if entrant.present else Return(player))
                if self.dice.random() < self.sits:
                    self.do(SitOut(player))
            except IllegalCommand:
                pass  # sat out before, or it is the last round
        if self.dice.random() < self.moves and len(self.state.entrants) < len(self.strength):
            self.do(Enter(f"P{len(self.state.entrants)}"))

    def end(self, number: int, *best_first: int) -> None:
        """The stronger one wins more often; some games are shared."""
        game = self.state.game(number)
        a, b = game.seated
        first = self.dice.random() < 1 / (1 + math.exp(self.strength[b] - self.strength[a]))
        places = (1, 1) if self.dice.random() < self.draws else (1, 2) if first else (2, 1)
        rows = tuple(ResultRow(p, 0, 0, 6, place) for p, place in zip((a, b), places, strict=True))
        self.do(GameEnds(number, game.match_id, GameResult(rows, seconds=60.0)))


def exported(state) -> str:
    """The state as TRF16; who stays away in the round to come, and the order of the lines for pairing, are told too."""
    lines = to_trf(state).splitlines()
    number = {int(line[4:8]) - 1: line for line in lines if line.startswith("001")}
    ranked = ranked_entrants(state, () if state.games else ("strength", "lot"))
    away = " ".join(str(p + 1) for p in range(len(state.entrants)) if p in state.away)
    head = [line for line in lines if not line.startswith("001")]
    order = [*ranked, *(p for p in number if p not in ranked)]
    return "\n".join([*head, *(number[p] for p in order), "XXC rank white1", *([f"XXZ {away}"] if away else [])]) + "\n"


def theirs(state, file: Path) -> tuple[Pairs, int | None] | None:
    """py4swiss's pairs, better placed first, and who rests; None where it finds no pairing."""
    file.write_text(exported(state), encoding="utf-8")
    try:
        games = DutchEngine.generate_pairings(TrfParser.parse(file, strict=True))
    except PairingError:
        return None
    resting = next((game.white - 1 for game in games if not game.black), None)
    return [(game.white - 1, game.black - 1) for game in games if game.black], resting


def measured(state, pairs: Pairs, resting: int | None) -> Counter[str]:
    """What a pairing of the next round costs."""
    made, met = points(state), meeting_counts(state)
    floats = floats_of(state, state.round)
    gaps = {(a, b): made[a] - made[b] for pair in pairs for a, b in (pair, pair[::-1])}
    return Counter(
        {
            "score differences": sum(gap for gap in gaps.values() if gap > 0)
            + (made[resting] if resting is not None else 0),
            "their squares": sum(gap * gap for gap in gaps.values() if gap > 0),
            "points of who rests": made[resting] if resting is not None else 0,
            "repeated floats": sum((gap > 0) - (gap < 0) == floats.get(a) for (a, _), gap in gaps.items() if gap)
            + (resting is not None and floats.get(resting) == 1),
            "rematches": sum(met[frozenset(pair)] for pair in pairs),
        }
    )


def compare(seeds: range) -> Counter[str]:
    """Sums over all rounds of these tournaments."""
    dutch_player._get_color_preference = lambda section: (NO_COLOR, 0, False)
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            cup = Evening(seed)
            while cup.state.phase != "finished" and len(cup.state.present) > 2:
                cup.comings_and_goings()
                before = cup.state
                other = theirs(before, Path(folder) / "cup.trf")
                cup.do(PairRound())
                games = cup.state.of_round(cup.state.round) if cup.state.phase != "finished" else ()
                pairs = [g.players for g in games if len(g.players) == 2]
                rest = next((g.players[0] for g in games if g.bye and g.result.by == "bye"), None)
                cup.play_round()
                total["rounds"] += bool(games)
                if other is None or not games:
                    total["rounds that py4swiss cannot pair"] += bool(games)
                    continue
                total.update(counted(before, (pairs, rest), other))
    return total


def counted(state, ours: tuple[Pairs, int | None], other: tuple[Pairs, int | None]) -> Counter[str]:
    """One round, both."""
    own, foreign = measured(state, *ours), measured(state, *other)
    total: Counter[str] = Counter({"rounds compared": 1})
    for what in own:
        total[f"{what}, ours"], total[f"{what}, theirs"] = own[what], foreign[what]
        total[f"{what}, ours worse"] = own[what] > foreign[what]
        total[f"{what}, theirs worse"] = own[what] < foreign[what]
    total["rounds with somebody resting"] = ours[1] is not None
    total["the same one rests"] = ours[1] is not None and ours[1] == other[1]
    total["the same pairs"] = set(map(frozenset, ours[0])) == set(map(frozenset, other[0]))
    total["first rounds"] = not state.round
    total["first rounds, the same pairs"] = not state.round and total["the same pairs"]
    return total


def main() -> None:
    """Print the figures."""
    many, first = (int(given) for given in (*sys.argv[1:], *("1000", "1000000")[len(sys.argv) - 1 :]))
    for what, sum_ in compare(range(first, first + many)).items():
        print(f"{sum_:8}  {what}")


if __name__ == "__main__":
    main()
