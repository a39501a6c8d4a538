"""How strong people are, and how sure that is: a Bayesian rating over all their matches, oldest first. Pure.

The model is Plackett-Luce in the approximation of R. C. Weng and C.-J. Lin, "A Bayesian approximation method for online
ranking", JMLR 12 (2011) 267-300, from the package openskill: it takes matches of any number of players, which printed
round-robins are, and ties. A rating is a mean and a standard deviation; who has not played has 25 and 25/3.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from openskill.models import PlackettLuce

from referee.tournament.people import Register
from referee.tournament.results import FinishedMatch

CONFIDENCE_SD = 2.0
"""Standard deviations on either side that hold 95 % of a normal distribution."""


@dataclass(frozen=True)
class Rating:
    """``value`` is within ``margin`` with 95 %, if the model holds; ``matches`` it rests on."""

    value: float
    margin: float
    matches: int = 0

    @property
    def careful(self) -> float:
        """What the player is worth at least, with 97.5 %: what first pairings go by."""
        return self.value - self.margin


def ratings(register: Register, matches: Iterable[FinishedMatch]) -> dict[str, Rating]:
    """Id -> rating of everybody in the register. Matches count in the order of their ends; who left before the end
    of one, or has no record, is not in it."""
    model = PlackettLuce()
    rated = {person_id: model.rating() for person_id in register.people}
    counted = dict.fromkeys(rated, 0)
    for match in sorted(matches, key=lambda m: m.at):
        rows = [(p.id, seat.place) for seat in match.seats if (p := register.named(seat.name)) and seat.place]
        if len({person for person, _ in rows}) < 2 or len({person for person, _ in rows}) != len(rows):
            continue
        after = model.rate([[rated[p]] for p, _ in rows], ranks=[float(place) for _, place in rows])
        for (person, _), team in zip(rows, after, strict=True):
            rated[person], counted[person] = team[0], counted[person] + 1
    return {p: Rating(r.mu, CONFIDENCE_SD * r.sigma, counted[p]) for p, r in rated.items()}
