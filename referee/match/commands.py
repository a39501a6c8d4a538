"""What may be asked of a match: the commands, and the phases each is legal in.

``zone`` is 'A' or 'B'; times called ``at_s`` are seconds of the host's monotonic clock, ``box_us`` microseconds of the
button box's own. ``who`` names the human who asks; corrections need it, and a reason ``why``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from referee.core import Command
from referee.match.card_facts import CardFacts
from referee.match.duel import IN_PLAY
from referee.match.foul import Proposal
from referee.match.house_rules import DEFAULT_RULES, HouseRules
from referee.match.verdict import ZoneVerdict

MODES: Mapping[str, tuple[int, ...]] = dict(
    [("all", (1, 2, 3, 4)), ("young-1-2", (1, 2)), ("young-1-3", (1, 2, 3)), ("experts", (2, 3, 4))]
)
"""Which card values each mode plays (RULES.md: young players agree on 1–2, later add 3, later all)."""

Ruling = Literal["match", "mismatch", "void", "award_A", "award_B"]
RULINGS = ("match", "mismatch", "void", "award_A", "award_B")
BETWEEN = ("idle", "decided", "void")
DUEL = (*IN_PLAY, "idle", "decided", "void")


class MatchCommand(Command):
    """Base of what may be asked of a match."""


class CreateMatch(MatchCommand):
    """Begin a match. ``players`` youngest first; ``cards`` as ``cards_of(deck)`` gives them."""

    players: tuple[str, ...]
    mode: str = "all"
    seed: int = 0
    deck_name: str = ""
    rules: HouseRules = DEFAULT_RULES
    cards: Mapping[str, CardFacts] = field(default_factory=dict)
    match_id: str = "match"
    simulated: bool = False
    PHASES = ("new",)


class DrawCard(MatchCommand):
    """Draw from the pile, or with ``card_id`` place a card drawn by hand; one that a player has won only ``again``."""

    card_id: str | None = None
    again: bool = False
    PHASES = ("idle", "void")


class DrawByHand(MatchCommand):
    """A card drawn by hand that nobody has read yet; ``NameCard`` follows."""

    PHASES = ("idle", "void")


class NameCard(MatchCommand):
    """The card in the holder is this one, by its marker or as typed; one that a player has won only ``again``."""

    card_id: str
    source: Literal["marker", "typed"] = "typed"
    again: bool = False
    PHASES = IN_PLAY


class Ready(MatchCommand):
    """Both players sit ready, the card stands hidden in the holder."""

    PHASES = ("card_drawn",)


class Go(MatchCommand):
    """The start call. From here on the card may be seen.

    ``fields``: zone -> what was wrong with its field before the go (``FIELD_FAULTS``); those that were as they should
    be are left out. With any the go is refused, unless a human has waived it or the house does not ask.
    ``touched``: zones whose player's hand was over the field when the go sounded.
    ``at_s`` is ``shift_s`` more than the host's monotonic clock showed, in that run of the machine (``boot``).
    """

    at_s: float
    box_us: int | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    touched: tuple[str, ...] = ()
    boot: str = ""
    shift_s: float = 0.0
    PHASES = ("ready",)


FIELD_FAULTS: Mapping[str, str] = {"not_empty": "field_not_empty", "hand": "field_hand"}
"""What may be wrong with a field before the go -> the sentence that says it of a ``zone``."""


class WaiveFields(MatchCommand):
    """Go although a field is not empty, or a hand is in it: for this duel, on record."""

    who: str
    why: str
    PHASES = ("card_drawn", "ready")
    NEEDS = ("who", "why")


class PressStop(MatchCommand):
    """A Stop button. ``error_s`` bounds the error of ``at_s``; box times compare without error."""

    zone: str
    at_s: float
    error_s: float = 0.0
    box_us: int | None = None
    PHASES = ("building", "stopped", "judging", "undecided")


class BeginJudging(MatchCommand):
    """The scene has settled and is clear: the judged frames are taken."""

    at_s: float | None = None
    PHASES = ("stopped",)


class CameraVerdict(MatchCommand):
    """What the camera says of a zone; ``findings`` of ``FINDINGS``, ``others``: what it says of more zones."""

    zone: str
    verdict: ZoneVerdict
    findings: tuple[str, ...] = ()
    others: Mapping[str, ZoneVerdict] = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)
    PHASES = ("stopped", "judging", "undecided", "decided", "void")


class HumanRuling(MatchCommand):
    """A human rules on an open duel. ``zone`` only in a dead heat; default: the one that is open."""

    ruling: Ruling
    who: str
    why: str
    zone: str | None = None
    PHASES = ("stopped", "judging", "undecided")
    NEEDS = ("who", "why")


class Overrule(MatchCommand):
    """A human overrules an ended duel: the latest, or the one of that ``number``."""

    ruling: Ruling
    who: str
    why: str
    number: int | None = None
    PHASES = (*DUEL, "finished")
    NEEDS = ("who", "why")


class OpenReview(MatchCommand):
    """Put the last result under review: the public score stays as it is until it is closed."""

    who: str
    why: str
    PHASES = ("decided", "void", "finished")
    NEEDS = ("who", "why")


class CloseReview(MatchCommand):
    """The review upholds the result. (``Overrule`` closes it too.)"""

    who: str
    PHASES = (*DUEL, "finished")
    NEEDS = ("who",)


class Foul(MatchCommand):
    """A foul seen or reported. ``sanction`` None leaves it to the house rule; with ``seen``, what the camera says of it
    (kind, zone, after_go_s, sure), it waits for a human whatever the rule is."""

    player: str
    text: str
    who: str
    sanction: Literal["none", "warning", "duel"] | None = None
    seen: Proposal | None = None
    PHASES = DUEL
    NEEDS = ("text", "who")


class FoulRuling(MatchCommand):
    """The human referee decides on a recorded foul (``index`` in ``state.fouls``)."""

    index: int
    sanction: Literal["none", "warning", "void", "duel"]
    who: str
    why: str = ""
    PHASES = DUEL
    NEEDS = ("who",)


class VoidDuel(MatchCommand):
    """No card for anyone, fresh card. ``reason``: 'human', 'bumped', 'device' …"""

    who: str
    why: str
    reason: str = "human"
    PHASES = IN_PLAY
    NEEDS = ("who", "why")


class CallTimeout(MatchCommand):
    """Nobody has pressed until ``at_s`` and the house has a time limit."""

    at_s: float
    PHASES = ("building",)


class NextDuel(MatchCommand):
    """On to the next duel, round, tie-break, or the final result."""

    PHASES = ("decided",)


class Undo(MatchCommand):
    """Take the last command back. What was recorded stays; the state goes back."""

    who: str
    PHASES = (*DUEL, "finished")
    NEEDS = ("who",)


class PlayerLeaves(MatchCommand):
    """A player goes home: a duel in play is void, the rounds still to come are dropped."""

    player: str
    who: str
    why: str
    PHASES = DUEL
    NEEDS = ("who", "why")


class PlayerJoins(MatchCommand):
    """A player comes late: one round against everyone present is added at the end."""

    player: str
    who: str
    PHASES = DUEL
    NEEDS = ("player", "who")


class PlayerLate(MatchCommand):
    """A listed player is not there yet: the rounds with this player move to the end."""

    player: str
    who: str
    PHASES = BETWEEN
    NEEDS = ("who",)


class RenamePlayer(MatchCommand):
    """A name was entered wrongly: from now on ``player`` is called ``name``, in what was played too."""

    player: str
    name: str
    who: str
    PHASES = (*DUEL, "finished")
    NEEDS = ("name", "who")


class ReplayRound(MatchCommand):
    """A round's duels count no longer and it is played again. ``round_index`` counts from 0."""

    round_index: int
    who: str
    why: str
    PHASES = (*BETWEEN, "finished")
    NEEDS = ("who", "why")


class ReplayDuel(MatchCommand):
    """An earlier duel that a human declared void is played once more, as soon as no other duel is in play."""

    number: int
    who: str
    why: str
    PHASES = (*BETWEEN, "finished")
    NEEDS = ("who", "why")


class LeaveMatch(MatchCommand):
    """This match waits as it stands: ``for_match``, an older one of this table, is gone on with."""

    for_match: str
    who: str = ""
    PHASES = (*BETWEEN, "finished")
    NEEDS = ("for_match",)


class TakeUpMatch(MatchCommand):
    """This match, left before, goes on where it stopped."""

    who: str = ""
    PHASES = (*DUEL, "finished")


class ChangeMode(MatchCommand):
    """Young players add value 3, later all: the next card comes from the new piles."""

    mode: str
    who: str
    PHASES = ("idle",)
    NEEDS = ("who",)


class SignSetup(MatchCommand):
    """Both players accept the set-up: it is frozen. ``record`` is its numbers, as JSON."""

    names: tuple[str, ...]
    who: str = ""
    record: Mapping[str, Any] = field(default_factory=dict)
    PHASES = BETWEEN


class OpenSetup(MatchCommand):
    """The set-up is to be changed: the signatures hold no longer."""

    who: str
    why: str = ""
    PHASES = BETWEEN
    NEEDS = ("who",)


class GoUnsigned(MatchCommand):
    """Play without signatures under the set-up, once and for this match."""

    who: str
    PHASES = BETWEEN
    NEEDS = ("who",)


class ChangeLens(MatchCommand):
    """From now on pictures are read through another lens: ``lens`` is its camera file, empty for none."""

    lens: Mapping[str, Any] = field(default_factory=dict)
    who: str = ""
    PHASES = BETWEEN


class SealRecording(MatchCommand):
    """A recording is closed: from now on its ``attempt.json`` has this SHA-256."""

    attempt: str = ""
    sha256: str = ""
    PHASES = (*DUEL, "finished")


COMMANDS: tuple[type[MatchCommand], ...] = tuple(MatchCommand.__subclasses__())
"""Every command, in the order of this file."""
