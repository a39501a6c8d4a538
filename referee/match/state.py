"""A match as it stands: one frozen value, folded from events (``referee.match.evolve``)."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from cards.sentences import sentence
from referee.core import EventBatch, State
from referee.match import commands
from referee.match.card_facts import NO_CARD, CardFacts
from referee.match.commands import COMMANDS, MatchCommand
from referee.match.duel import PHASES_IN_PLAY, Duel
from referee.match.foul import FoulNoted
from referee.match.house_rules import DEFAULT_RULES, HouseRules
from referee.match.schedule import Round, player_letter
from referee.match.verdict import ZoneVerdict

CARD_SHOWN_PHASES = ("building", "stopped", "judging", "undecided", "decided", "void", "finished")
"""Phases in which the card may be shown: nobody sees it before the go."""

MOST_UNDONE = 200
"""So many commands can be undone one after the other: more than any round has, and memory stays flat."""


@dataclass(frozen=True)
class Standing:
    """One row of the table: equal scores share a rank; who has left has none. ``by_hand``: points that humans gave
    without a camera."""

    player: str
    score: int
    duels: int
    rank: int | None
    by_hand: int = 0


@dataclass(frozen=True)
class MatchState(State):
    """Everything of a match. Players are names, youngest first; zones are 'A' and 'B'.

    ``past`` are the attempts before the current ``duel``; ``piles`` what is still to be drawn, top
    first; ``seen`` the cards anybody has seen, which no undo makes unseen; ``earlier`` the states
    before the last commands, each without earlier ones of its own. An undo takes back ``undo_step``,
    from event ``first_seq`` on, which is an ``undo_kind``. ``setup`` is 'open', 'signed' or 'waived',
    ``signed`` by whom; ``by_hand``: humans rule, without a camera. ``left_for`` names the older match that was taken up
    instead.
    """

    match_id: str = ""
    players: tuple[str, ...] = ()
    gone: Mapping[str, str] = field(default_factory=dict)
    mode: str = "all"
    seed: int = 0
    seed_hash: str = ""
    deck_name: str = ""
    rules: HouseRules = DEFAULT_RULES
    cards: Mapping[str, CardFacts] = field(default_factory=dict)
    piles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    returned: tuple[str, ...] = ()
    seen: frozenset[str] = frozenset()
    reshuffles: int = 0
    rounds: tuple[Round, ...] = ()
    round_index: int = 0
    duel_index: int = 0
    duel: Duel = field(default_factory=Duel)
    past: tuple[Duel, ...] = ()
    fouls: tuple[FoulNoted, ...] = ()
    frozen: Mapping[str, int] | None = None
    finished: Mapping[str, Any] | None = None
    created_at: str = ""
    first_seq: int = 0
    undo_step: int = 0
    undo_kind: str = ""
    setup: str = "open"
    signed: tuple[str, ...] = ()
    by_hand: bool = False
    left_for: str = ""
    earlier: tuple["MatchState", ...] = field(default=(), repr=False, compare=False)

    @property
    def before(self) -> "MatchState | None":
        """The state before the last command, with what an undo of it needs; None when there is none."""
        return replace(self.earlier[-1], earlier=self.earlier[:-1]) if self.earlier else None

    def after(self, state: "MatchState") -> "MatchState":
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
    def verdicts(self) -> Mapping[str, ZoneVerdict]:
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
        scores, rows = self.scores, []
        for player in sorted(self.players, key=lambda p: (p in self.gone, -scores.get(p, 0))):
            better = sum(scores.get(p, 0) > scores.get(player, 0) for p in self.active)
            played = sum(d.award is not None and not d.annulled and player in d.seats.values() for d in self.history)
            rank = None if player in self.gone else better + 1
            by_hand = sum(d.points for d in self.history if d.by_hand and d.award == player)
            rows.append(Standing(player, scores.get(player, 0), played, rank, by_hand))
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
        """Who draws and places the card: of those who wait, who has drawn least; of two, they take turns.

        Every attempt counts, also one that was void.
        """
        drawn = dict.fromkeys(self.players, 0)
        for duel in self.past:
            who = self._draws(duel, drawn)
            if who is not None:
                drawn[who] += 1
        return self._draws(self.duel, drawn)

    def _draws(self, duel: Duel, drawn: Mapping[str, int]) -> str | None:
        """Who draws for that duel when so many cards have been drawn by each player."""
        waiting = [p for p in self.active if p not in duel.seats.values()]
        pool = waiting or [p for p in self.players if p in duel.seats.values()]
        return min(pool, key=lambda p: drawn[p], default=None)

    def card_of(self, card_id: str | None) -> CardFacts:
        """What is known of a card of the deck; ``NO_CARD`` for none."""
        return self.cards.get(card_id or "", NO_CARD)

    def refusal(self, command: type[MatchCommand]) -> str:
        """Why that command is not possible now, whatever it says; empty when it is."""
        if self.phase not in command.PHASES:
            return sentence("phase", command=command.__name__, phase=self.phase)
        return GUARDS[command](self) if command in GUARDS else ""

    def can(self, command: type[MatchCommand]) -> bool:
        """Whether that command is possible now. (It may still be refused for what it says.)"""
        return not self.refusal(command)

    def allowed(self) -> tuple[str, ...]:
        """Names of the commands the phase allows."""
        return tuple(c.__name__ for c in COMMANDS if self.can(c))

    def to_json(self) -> dict[str, Any]:
        """JSON-able, the referee's view; ``public_match`` leaves out what the public may not know."""
        return self._where() | self._table() | {"history": [d.to_json() for d in self.history]}

    def _where(self) -> dict[str, Any]:
        """What is being played."""
        duel, (award, value) = self.duel.to_json(), self.award
        return {
            "match_id": self.match_id,
            "phase": self.phase,
            "mode": self.mode,
            "deck": self.deck_name,
            "simulated": self.simulated,
            "created_at": self.created_at,
            "seed_hash": self.seed_hash,
            "seed": str(self.seed) if self.finished else None,
            "seq": self.seq,
            "rules": self.rules.model_dump(),
            "rounds": [r.to_json() for r in self.rounds],
            "round_index": self.round_index,
            "duel_index": self.duel_index,
            "duel": duel,
            "card_id": duel["card_id"],
            "value": duel["value"],
            "seats": dict(self.seats),
            "presses": duel["presses"],
            "callers": list(self.duel.callers),
            "verdicts": {zone: said.to_json() for zone, said in self.verdicts.items()},
            "rulings": dict(self.duel.rulings),
            "award": {"player": award, "value": value},
            "drawer": self.drawer,
            "inactive": list(self.inactive),
            "in_play": self.phase in PHASES_IN_PLAY,
            "piles": {name: len(cards) for name, cards in self.piles.items()},
            "allowed": list(self.allowed()),
            "undo": self.undo_kind if self.can(commands.Undo) else "",
            "by_hand": self.by_hand,
            "setup": {"state": self.setup, "signed": list(self.signed), "unsigned": self.unsigned},
        }

    def _table(self) -> dict[str, Any]:
        """Players, points and result."""
        scores = self.scores
        people = [
            {
                "name": p,
                "letter": player_letter(i),
                "score": scores.get(p, 0),
                "active": p not in self.gone,
                "warnings": sum(f.player == p and f.sanction == "warning" for f in self.fouls),
            }
            for i, p in enumerate(self.players)
        ]
        return {
            "players": people,
            "scores": scores,
            "public_scores": self.public_scores,
            "under_review": self.under_review,
            "standings": [asdict(row) for row in self.standings],
            "winner": self.winner,
            "result": dict(self.finished) if self.finished else None,
            "fouls": [f.to_json() for f in self.fouls],
        }


def public_match(match: Mapping[str, Any]) -> dict[str, Any]:
    """``MatchState.to_json()`` as anybody may know it: no card before the go, no score and no seed under review."""
    row = dict(match)
    if match["phase"] not in CARD_SHOWN_PHASES:
        row |= {"card_id": None, "value": 0, "duel": dict(match["duel"]) | {"card_id": None, "value": 0, "pile": None}}
    if match["under_review"]:
        scores = match["public_scores"]
        row |= {
            "scores": scores,
            "winner": None,
            "result": None,
            "seed": None,
            "players": [dict(p) | {"score": scores.get(p["name"], 0)} for p in match["players"]],
            "standings": _ranked(match, scores),
        }
    return row


def _ranked(match: Mapping[str, Any], scores: Mapping[str, int]) -> list[dict[str, Any]]:
    rows = [dict(row) | {"score": scores.get(row["player"], 0)} for row in match["standings"]]
    present = [row["score"] for row in rows if row["rank"] is not None]
    ranked = [row | {"rank": row["rank"] and 1 + sum(s > row["score"] for s in present)} for row in rows]
    return sorted(ranked, key=lambda row: (row["rank"] is None, row["rank"] or 0))


MatchBatch = EventBatch[MatchState]
"""The events of one command of a match."""

UNSIGNED_REFUSAL = sentence("unsigned")
FROZEN_REFUSAL = sentence("frozen")

GUARDS: Mapping[type[MatchCommand], Callable[[MatchState], str]] = {
    commands.Undo: lambda s: "" if s.earlier and s.earlier[-1].phase != "new" else sentence("nothing_to_undo"),
    commands.DrawCard: lambda s: UNSIGNED_REFUSAL if s.unsigned else "",
    commands.DrawByHand: lambda s: UNSIGNED_REFUSAL if s.unsigned else "",
    commands.GoUnsigned: lambda s: "" if s.unsigned else sentence("nothing_waits"),
    commands.SignSetup: lambda s: sentence("signed_already", names=list(s.signed)) if s.setup == "signed" else "",
    commands.OpenSetup: lambda s: "" if s.setup == "signed" else sentence("open_already"),
    commands.ChangeLens: lambda s: FROZEN_REFUSAL if s.setup == "signed" else "",
    commands.CloseReview: lambda s: "" if s.under_review else sentence("no_review"),
    commands.OpenReview: lambda s: sentence("review_open") if s.under_review else "",
    commands.FoulRuling: lambda s: "" if any(f.open for f in s.fouls) else sentence("no_open_foul"),
    commands.Overrule: lambda s: "" if s.history else sentence("none_ended"),
    commands.CallTimeout: lambda s: "" if s.rules.time_limit_s is not None else sentence("no_limit"),
}
"""Beyond the phase: what a command needs of the match, as the reason why it is refused; empty when it is not.
``MatchState.can`` and ``decide`` ask the same table."""
