"""What may be asked of a match: the commands, the phases each is legal in, and what a stranger may fill in.

``zone`` is 'A' or 'B'; times called ``at_s`` are seconds of the host's monotonic clock, ``box_us`` microseconds of the
button box's own. ``who`` names the human who asks; corrections need it, and a reason ``why``.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import Field

from referee.core import Command, Needed
from referee.fields import ByProgram, Flag, Name, NeededText, Number, Text, Zone
from referee.match.card_facts import CardFacts
from referee.match.duel import PHASES_IN_PLAY
from referee.match.foul import FoulProposal
from referee.match.house_rules import DEFAULT_RULES, HouseRules
from referee.match.verdict import ZoneVerdict

MODES: Mapping[str, tuple[int, ...]] = dict(
    [("all", (1, 2, 3, 4)), ("young-1-2", (1, 2)), ("young-1-3", (1, 2, 3)), ("experts", (2, 3, 4))]
)
"""Which card values each mode plays (RULES.md: young players agree on 1–2, later add 3, later all)."""

Ruling = Literal["match", "mismatch", "void", "award_A", "award_B"]
RULINGS = ("match", "mismatch", "void", "award_A", "award_B")
BETWEEN_DUELS = ("idle", "decided", "void")
DUEL = (*PHASES_IN_PLAY, "idle", "decided", "void")


class MatchCommand(Command):
    """Base of what may be asked of a match."""


class CreateMatch(MatchCommand):
    """Begin a match. ``players`` youngest first; ``cards`` as ``cards_of(deck)`` gives them."""

    players: Annotated[tuple[Name, ...], Field(min_length=2, max_length=12)]
    mode: Text = "all"
    seed: ByProgram[int] = 0
    deck_name: ByProgram[str] = ""
    rules: ByProgram[HouseRules] = DEFAULT_RULES
    cards: ByProgram[Mapping[str, CardFacts]] = field(default_factory=dict)
    match_id: ByProgram[str] = "match"
    simulated: ByProgram[bool] = False
    PHASES = ("new",)


class DrawCard(MatchCommand):
    """Draw from the pile, or with ``card_id`` place a card drawn by hand; one that a player has won only ``again``."""

    card_id: Text | None = None
    again: Flag = False
    PHASES = ("idle", "void")


class DrawByHand(MatchCommand):
    """A card drawn by hand that nobody has read yet; ``NameCard`` follows."""

    PHASES = ("idle", "void")


class NameCard(MatchCommand):
    """The card in the holder is this one, by its marker or as typed; one that a player has won only ``again``."""

    card_id: Text
    source: Literal["marker", "typed"] = "typed"
    again: Flag = False
    PHASES = PHASES_IN_PLAY


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

    at_s: ByProgram[float]
    box_us: ByProgram[int | None] = None
    fields: ByProgram[Mapping[str, str]] = field(default_factory=dict)
    touched: ByProgram[tuple[str, ...]] = ()
    boot: ByProgram[str] = ""
    shift_s: ByProgram[float] = 0.0
    PHASES = ("ready",)


FIELD_FAULTS: Mapping[str, str] = {"not_empty": "field_not_empty", "hand": "field_hand"}
"""What may be wrong with a field before the go -> the sentence that says it of a ``zone``."""


class WaiveFields(MatchCommand):
    """Go although a field is not empty, or a hand is in it: for this duel, on record."""

    who: NeededText
    why: NeededText
    PHASES = ("card_drawn", "ready")


class PressStop(MatchCommand):
    """A Stop, for the player at the zone.

    ``error_s`` bounds the error of ``at_s``; box times compare without error. ``by``: see ``StopPress``.
    """

    zone: Zone
    at_s: ByProgram[float]
    error_s: ByProgram[float] = 0.0
    box_us: ByProgram[int | None] = None
    by: ByProgram[str] = ""
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
    who: NeededText
    why: NeededText
    zone: Text | None = None
    PHASES = ("stopped", "judging", "undecided")


class Overrule(MatchCommand):
    """A human overrules an ended duel: the latest, or the one of that ``number``."""

    ruling: Ruling
    who: NeededText
    why: NeededText
    number: Number | None = None
    PHASES = (*DUEL, "finished")


class OpenReview(MatchCommand):
    """Put the last result under review: the public score stays as it is until it is closed."""

    who: NeededText
    why: NeededText
    PHASES = ("decided", "void", "finished")


class CloseReview(MatchCommand):
    """The review upholds the result. (``Overrule`` closes it too.)"""

    who: NeededText
    PHASES = (*DUEL, "finished")


class Foul(MatchCommand):
    """A foul seen or reported. ``sanction`` None leaves it to the house rule.

    With ``seen``, what the camera says of it (kind, zone, after_go_s, sure), it waits for a human whatever the rule is.
    """

    player: Text
    text: NeededText
    who: NeededText
    sanction: Literal["none", "warning", "duel"] | None = None
    seen: ByProgram[FoulProposal | None] = None
    PHASES = DUEL


class FoulRuling(MatchCommand):
    """The human referee decides on a recorded foul (``index`` in ``state.fouls``)."""

    index: Number
    sanction: Literal["none", "warning", "void", "duel"]
    who: NeededText
    why: Text = ""
    PHASES = DUEL


class VoidDuel(MatchCommand):
    """No card for anyone, fresh card. ``reason``: 'human', 'bumped', 'device' …"""

    who: NeededText
    why: NeededText
    reason: Text = "human"
    PHASES = PHASES_IN_PLAY


class CallTimeout(MatchCommand):
    """The time limit of the house is over, and nobody has pressed."""

    at_s: ByProgram[float]
    PHASES = ("building",)


class NextDuel(MatchCommand):
    """On to the next duel, round, tie-break, or the final result."""

    PHASES = ("decided",)


class Undo(MatchCommand):
    """Take the last command back. What was recorded stays; the state goes back."""

    who: NeededText
    PHASES = (*DUEL, "finished")


class PlayerLeaves(MatchCommand):
    """A player goes home: a duel in play is void, the rounds still to come are dropped."""

    player: Text
    who: NeededText
    why: NeededText
    PHASES = DUEL


class PlayerJoins(MatchCommand):
    """A player comes late: one round against everyone present is added at the end."""

    player: NeededText
    who: NeededText
    PHASES = DUEL


class PlayerLate(MatchCommand):
    """A listed player is not there yet: the rounds with this player move to the end."""

    player: Text
    who: NeededText
    PHASES = BETWEEN_DUELS


class RenamePlayer(MatchCommand):
    """A name was entered wrongly: from now on ``player`` is called ``name``, in what was played too."""

    player: Text
    name: NeededText
    who: NeededText
    PHASES = (*DUEL, "finished")


class ReplayRound(MatchCommand):
    """A round's duels count no longer and it is played again. ``round_index`` counts from 0."""

    round_index: Number
    who: NeededText
    why: NeededText
    PHASES = (*BETWEEN_DUELS, "finished")


class ReplayDuel(MatchCommand):
    """An earlier duel that a human declared void is played once more, as soon as no other duel is in play."""

    number: Number
    who: NeededText
    why: NeededText
    PHASES = (*BETWEEN_DUELS, "finished")


class LeaveMatch(MatchCommand):
    """This match waits as it stands: ``for_match``, an older one of this table, is gone on with."""

    for_match: Needed
    who: Text = ""
    PHASES = (*BETWEEN_DUELS, "finished")


class TakeUpMatch(MatchCommand):
    """This match, left before, goes on where it stopped."""

    who: ByProgram[str] = ""
    PHASES = (*DUEL, "finished")


class ChangeMode(MatchCommand):
    """Young players add value 3, later all: the next card comes from the new piles."""

    mode: Text
    who: NeededText
    PHASES = ("idle",)


class SignSetup(MatchCommand):
    """Both players accept the set-up: it is frozen. ``record`` is its numbers, as JSON."""

    names: tuple[str, ...]
    who: Text = ""
    record: Mapping[str, Any] = field(default_factory=dict)
    PHASES = BETWEEN_DUELS


class OpenSetup(MatchCommand):
    """The set-up is to be changed: the signatures hold no longer."""

    who: NeededText
    why: Text = ""
    PHASES = BETWEEN_DUELS


class GoUnsigned(MatchCommand):
    """Play without signatures under the set-up, once and for this match."""

    who: NeededText
    PHASES = BETWEEN_DUELS


class RuleByHand(MatchCommand):
    """The camera is gone for good: humans rule, and what they decide is marked; or, not ``on``, it judges again."""

    on: Flag
    who: Text = ""
    PHASES = (*DUEL, "finished")


class ChangeLens(MatchCommand):
    """From now on pictures are read through another lens: ``lens`` is its camera file, empty for none."""

    lens: Mapping[str, Any] = field(default_factory=dict)
    who: Text = ""
    PHASES = BETWEEN_DUELS


class SealRecording(MatchCommand):
    """A recording is closed: from now on its ``attempt.json`` has this SHA-256."""

    attempt: str = ""
    sha256: str = ""
    PHASES = (*DUEL, "finished")


COMMANDS: tuple[type[MatchCommand], ...] = tuple(MatchCommand.__subclasses__())
"""Every command, in the order of this file."""
