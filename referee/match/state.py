"""A match as it stands: one frozen value, folded from events (``referee.folding``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from referee.duel import IN_PLAY, Duel
from referee.moves import COMMANDS
from referee.rules import DEFAULT_RULES, HouseRules
from referee.schedule import Round, letter

SEEN_PHASES = ("building", "stopped", "judging", "undecided", "decided", "void")
"""Phases in which the card may be shown: nobody sees it before the go."""

MOST_UNDONE = 200
"""So many commands can be undone one after the other: more than any round has, and memory stays flat."""


@dataclass(frozen=True)
class Standing:
    """One row of the table: equal scores share a rank; who has left has none."""

    player: str
    score: int
    duels: int
    rank: int | None

    def to_json(self) -> dict:
        """By field name."""
        return {"player": self.player, "score": self.score, "duels": self.duels, "rank": self.rank}


@dataclass(frozen=True)
class MatchState:
    """Everything of a match. Players are names, youngest first; zones are 'A' and 'B'.

    ``past`` are the attempts before the current ``duel``; ``piles`` what is still to be drawn, top
    first; ``seen`` the cards anybody has seen, which no undo makes unseen; ``earlier`` the states
    before the last commands, each without earlier ones of its own. ``seq`` counts the events folded,
    ``step`` the commands. ``setup`` is 'open', 'signed' or 'waived', ``signed`` by whom.
    """

    match_id: str = ""
    players: tuple[str, ...] = ()
    gone: Mapping[str, str] = field(default_factory=dict)
    mode: str = "all"
    seed: int = 0
    deck_name: str = ""
    rules: HouseRules = DEFAULT_RULES
    cards: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    piles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    returned: tuple[str, ...] = ()
    seen: frozenset[str] = frozenset()
    reshuffles: int = 0
    rounds: tuple[Round, ...] = ()
    round_index: int = 0
    duel_index: int = 0
    duel: Duel = field(default_factory=Duel)
    past: tuple[Duel, ...] = ()
    fouls: tuple[Mapping[str, Any], ...] = ()
    frozen: Mapping[str, int] | None = None
    finished: Mapping[str, Any] | None = None
    simulated: bool = False
    created_at: str = ""
    seq: int = 0
    step: int = 0
    first_seq: int = 0
    setup: str = "open"
    signed: tuple[str, ...] = ()
    earlier: tuple[MatchState, ...] = field(default=(), repr=False, compare=False)

    @property
    def before(self) -> MatchState | None:
        """The state before the last command, with what an undo of it needs; None when there is none."""
        return replace(self.earlier[-1], earlier=self.earlier[:-1]) if self.earlier else None

    def after(self, state: MatchState) -> MatchState:
        """This state as the one that a command of ``state`` led to."""
        return replace(self, earlier=(*state.earlier, replace(state, earlier=()))[-MOST_UNDONE:])

    @property
    def unsigned(self) -> bool:
        """Whether the house waits for signatures under the set-up before a card is drawn."""
        return self.rules.sign_off == "asked" and self.setup == "open"

    @property
    def phase(self) -> str:
        """'new', 'finished', or the phase of the duel."""
        if not self.match_id:
            return "new"
        return "finished" if self.finished else self.duel.phase

    @property
    def card_id(self) -> str | None:
        """The card on the table, hidden or not."""
        return self.duel.card_id

    @property
    def seats(self) -> Mapping[str, str]:
        """Zone -> player of the current duel."""
        return self.duel.seats

    @property
    def presses(self) -> tuple[Mapping[str, Any], ...]:
        """All presses of the current duel, also those that did not count."""
        return self.duel.presses

    @property
    def verdicts(self) -> Mapping[str, Mapping[str, Any]]:
        """Zone -> the camera's verdict in the current duel."""
        return self.duel.verdicts

    @property
    def award(self) -> tuple[str | None, int]:
        """Who got the current card, and its value; (None, 0) while open or void."""
        return self.duel.award, self.duel.points

    @property
    def history(self) -> tuple[Duel, ...]:
        """Every attempt that has ended, void ones too, in order."""
        return (*self.past, self.duel) if self.duel.ended else self.past

    @property
    def scores(self) -> dict[str, int]:
        """Player -> total of card values. Zero is a value: everyone is listed."""
        total = dict.fromkeys(self.players, 0)
        for duel in self.history:
            if duel.award is not None:
                total[duel.award] += duel.points
        return total

    @property
    def under_review(self) -> bool:
        """Whether a review was opened and not yet closed."""
        return self.frozen is not None

    @property
    def public_scores(self) -> dict[str, int]:
        """The scores the public board shows: frozen while under review."""
        return dict(self.frozen) if self.frozen is not None else self.scores

    @property
    def active(self) -> tuple[str, ...]:
        """Players who have not left."""
        return tuple(p for p in self.players if p not in self.gone)

    @property
    def standings(self) -> tuple[Standing, ...]:
        """The table, best first; who left comes last."""
        return self.table(self.scores)

    def table(self, scores: Mapping[str, int]) -> tuple[Standing, ...]:
        """Standings from any scores."""
        rows = []
        for player in sorted(self.players, key=lambda p: (p in self.gone, -scores.get(p, 0))):
            better = sum(scores.get(p, 0) > scores.get(player, 0) for p in self.active)
            played = sum(d.award is not None and not d.annulled and player in d.seats.values() for d in self.history)
            rows.append(Standing(player, scores.get(player, 0), played, None if player in self.gone else better + 1))
        return tuple(rows)

    @property
    def winner(self) -> str | None:
        """The one winner of a finished match; None before that, and when first place is shared."""
        return self.finished.get("winner") if self.finished else None

    @property
    def round(self) -> Round | None:
        """The round being played."""
        return self.rounds[self.round_index] if self.round_index < len(self.rounds) else None

    @property
    def inactive(self) -> tuple[str, ...]:
        """Present players who do not play this round: they draw, call the start and check."""
        return tuple(p for p in self.active if p not in self.duel.seats.values())

    @property
    def drawer(self) -> str | None:
        """Who draws and places the next card: the waiting players in turn; of two, they take turns."""
        pool = self.inactive or tuple(sorted(self.duel.seats.values(), key=self.players.index))
        turn = self.round_index * self.rules.duels_per_round + self.duel_index
        return pool[turn % len(pool)] if pool else None

    def card_of(self, card_id: str | None) -> Mapping[str, Any]:
        """Kind, value and count of a card of the deck; empty for no card."""
        return self.cards.get(card_id or "", {})

    def can(self, command: type) -> bool:
        """Whether the phase allows that command. (It may still be refused for what it says.)"""
        if self.phase not in command.PHASES:
            return False
        checks = {
            "Undo": bool(self.earlier) and self.earlier[-1].phase != "new",
            "DrawCard": not self.unsigned,
            "DrawByHand": not self.unsigned,
            "GoUnsigned": self.unsigned,
            "SignSetup": self.setup != "signed",
            "OpenSetup": self.setup == "signed",
            "ChangeLens": self.setup != "signed",
            "CloseReview": self.under_review,
            "OpenReview": not self.under_review,
            "FoulRuling": any(f["sanction"] is None for f in self.fouls),
            "Overrule": bool(self.history),
            "CallTimeout": self.rules.time_limit_s is not None,
        }
        return checks.get(command.__name__, True)

    def allowed(self) -> tuple[str, ...]:
        """Names of the commands the phase allows."""
        return tuple(c.__name__ for c in COMMANDS if self.can(c))

    def to_json(self, public: bool = False) -> dict:
        """JSON-able. ``public`` hides the card before the go and shows the public score only."""
        scores = self.public_scores if public else self.scores
        hidden = public and self.phase not in (*SEEN_PHASES, "finished")
        duel = self.duel.to_json()
        if hidden:
            duel |= {"card_id": None, "value": 0, "pile": None}
        history = [d.to_json() for d in self.history]
        return self._where(duel) | self._table(scores, public) | {"history": history}

    def _where(self, duel: dict) -> dict:
        """What is being played."""
        award, value = self.award
        return {
            "match_id": self.match_id,
            "phase": self.phase,
            "mode": self.mode,
            "deck": self.deck_name,
            "simulated": self.simulated,
            "created_at": self.created_at,
            "seq": self.seq,
            "rules": self.rules.model_dump(),
            "rounds": [r.to_json() for r in self.rounds],
            "round_index": self.round_index,
            "duel_index": self.duel_index,
            "duel": duel,
            "card_id": duel["card_id"],
            "value": duel["value"],
            "seats": dict(self.seats),
            "presses": list(self.presses),
            "callers": list(self.duel.callers),
            "verdicts": dict(self.verdicts),
            "rulings": dict(self.duel.rulings),
            "award": {"player": award, "value": value},
            "drawer": self.drawer,
            "inactive": list(self.inactive),
            "in_play": self.phase in IN_PLAY,
            "piles": {name: len(cards) for name, cards in self.piles.items()},
            "allowed": list(self.allowed()),
            "setup": {"state": self.setup, "signed": list(self.signed), "unsigned": self.unsigned},
        }

    def _table(self, scores: dict, public: bool) -> dict:
        """Players, points and result."""
        table = self.table(scores)
        people = [
            {
                "name": p,
                "letter": letter(i),
                "score": scores.get(p, 0),
                "active": p not in self.gone,
                "warnings": sum(f["player"] == p and f["sanction"] == "warning" for f in self.fouls),
            }
            for i, p in enumerate(self.players)
        ]
        return {
            "players": people,
            "scores": scores,
            "public_scores": self.public_scores,
            "under_review": self.under_review,
            "standings": [row.to_json() for row in table],
            "winner": self.winner if not (public and self.under_review) else None,
            "result": dict(self.finished) if self.finished else None,
            "fouls": [dict(f) for f in self.fouls],
        }
