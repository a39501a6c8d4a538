"""What may be asked of a tournament: the commands, the phases each is legal in, and the events each leads to. Pure.

    events = decide(state, command, at)     # raises IllegalCommand and changes nothing
    state = fold([*events_so_far, *events])

``who`` names the human who asks; what takes something back needs it, and a reason ``why``. Entrants, games and rounds
are numbers as in ``referee.tournament.state``; tables are their names. Pairings and results stand in the events, so
that an old record never depends on today's way to choose.
"""

from collections.abc import Sequence
from dataclasses import asdict, field, replace
from typing import ClassVar

from cards.sentences import sentence
from referee import core
from referee.core import Command, Decider, EventBatch, Needed, refuse_if
from referee.errors import IllegalCommand
from referee.events import Event
from referee.match.schedule import comparable_name
from referee.tournament import pairing
from referee.tournament.evolve import evolve
from referee.tournament.people import MOST_NAME, normalized_name
from referee.tournament.standings import ENTRY_ORDER, knockout_winner, points, ranked_entrants
from referee.tournament.state import (
    FORMATS,
    GROUP_SIZES,
    MOST_ENTRANTS,
    MOST_ROUNDS,
    RECORD,
    STAGE_OF,
    Entrant,
    Fixture,
    GameResult,
    ResultRow,
    Stage,
    Tournament,
    TournamentOptions,
)

OPEN_STAGES = ("entering", "round", "between")
TournamentBatch = EventBatch[Tournament]


class TournamentCommand(Command):
    """Base of what may be asked of a tournament, by most until it is finished."""

    PHASES: ClassVar[tuple[str, ...]] = OPEN_STAGES

    def carry_out(self, batch: TournamentBatch) -> None:
        """Add the events that it leads to. Raises IllegalCommand with the reason."""
        raise NotImplementedError


class CreateTournament(TournamentCommand):
    """Begin a tournament. ``strengths`` go with ``players``, or are left out."""

    id: Needed
    name: Needed
    options: TournamentOptions = field(default_factory=TournamentOptions)
    players: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    strengths: tuple[float, ...] = ()
    simulated: bool = False
    PHASES = ("new",)

    def carry_out(self, batch: TournamentBatch) -> None:
        options = self.options
        refuse_if(options.format not in FORMATS, "tour.format", name=options.format, known=list(FORMATS))
        refuse_if(not 0 <= options.rounds <= MOST_ROUNDS, "tour.rounds", most=MOST_ROUNDS, n=options.rounds)
        sizes = {"least": GROUP_SIZES[0], "most": GROUP_SIZES[-1], "n": options.group_size}
        refuse_if(options.group_size not in GROUP_SIZES, "tour.group_size", **sizes)
        refuse_if(options.advance != 0 and options.advance < 2, "tour.advance", n=options.advance)
        names: list[str] = []
        for name in self.players:
            names.append(_free_name(names, name))
        refuse_if(len(names) > MOST_ENTRANTS, "tour.too_many", most=MOST_ENTRANTS)
        tables: list[str] = []
        for table in self.tables:
            tables.append(_free_table(tables, table))
        strengths = [*self.strengths, *[0.0] * len(names)]
        batch.add(
            "tournament_created",
            id=self.id,
            name=self.name.strip(),
            options=asdict(options),
            seed_hash=core.seed_hash(options.seed),
            entrants=[asdict(Entrant(name, strength=s)) for name, s in zip(names, strengths, strict=False)],
            tables=tables,
        )


class Enter(TournamentCommand):
    """Somebody takes part; who comes late plays from the next round on that is paired."""

    player: Needed
    strength: float = 0.0
    who: str = ""

    def carry_out(self, batch: TournamentBatch) -> None:
        state = batch.state
        name = _free_name([e.name for e in state.entrants], self.player)
        refuse_if(len(state.entrants) >= MOST_ENTRANTS, "tour.too_many", most=MOST_ENTRANTS)
        refuse_if(state.round and state.stage != "swiss", "tour.too_late", player=name)
        batch.add("entrant_joined", **asdict(Entrant(name, state.round, "", self.strength)))


class Leave(TournamentCommand):
    """Somebody goes home: a game of two that is not over goes to the other one."""

    player: int
    why: Needed
    who: str = ""

    def carry_out(self, batch: TournamentBatch) -> None:
        entrant = _entrant(batch.state, self.player)
        refuse_if(not entrant.present, "tour.gone", player=entrant.name)
        batch.add("entrant_left", player=self.player, why=self.why.strip())
        for game in batch.state.games:
            if self.player in game.players and game.result is None:
                others = [p for p in game.players if batch.state.entrants[p].present]
                if len(others) < 2:
                    _over(batch, game, "left", others[0] if others else None)


class SitOut(TournamentCommand):
    """Somebody asks not to play the next round of a Swiss: once, for half of what a win brings."""

    player: int
    who: str = ""

    def carry_out(self, batch: TournamentBatch) -> None:
        state, entrant = batch.state, _entrant(batch.state, self.player)
        refuse_if(not entrant.present, "tour.gone", player=entrant.name)
        once = [g for g in state.games if self.player in g.players and g.result and g.result.by == "requested"]
        over = state.stage != "swiss" or 0 < state.rounds <= state.round
        refuse_if(over or once or self.player in state.away, "tour.sits_out", player=entrant.name)
        batch.add("bye_requested", player=self.player, round=state.round + 1)


class Return(TournamentCommand):
    """Somebody who had left, or wanted to sit out the next round, plays on from the next round."""

    player: int
    who: str = ""

    def carry_out(self, batch: TournamentBatch) -> None:
        entrant = _entrant(batch.state, self.player)
        refuse_if(self.player not in batch.state.away, "tour.present", player=entrant.name)
        batch.add("entrant_returned", player=self.player)


class Rename(TournamentCommand):
    """A name was entered wrongly."""

    player: int
    name: Needed
    who: str = ""
    PHASES = (*OPEN_STAGES, "finished")

    def carry_out(self, batch: TournamentBatch) -> None:
        entrant, state = _entrant(batch.state, self.player), batch.state
        name = _free_name([e.name for n, e in enumerate(state.entrants) if n != self.player], self.name)
        refuse_if(name == entrant.name, "named_already", player=name)
        refuse_if(state.busy(self.player) is not None, "tour.busy_name", player=entrant.name)
        batch.add("entrant_renamed", player=self.player, name=name)


class OpenTable(TournamentCommand):
    """One more table."""

    table: Needed
    who: str = ""

    def carry_out(self, batch: TournamentBatch) -> None:
        batch.add("table_opened", table=_free_table(batch.state.tables, self.table))


class CloseTable(TournamentCommand):
    """A table is given up: what is called to it or played there waits again, and the match begun counts no longer."""

    table: str
    why: Needed
    who: str = ""

    def carry_out(self, batch: TournamentBatch) -> None:
        refuse_if(self.table not in batch.state.tables, "tour.no_table", table=self.table)
        if game := batch.state.at_table(self.table):
            batch.add("game_waits", game=game.number, why=self.why)
        batch.add("table_closed", table=self.table, why=self.why)


class PairRound(TournamentCommand):
    """Pair the next round; after the last one, the end."""

    PHASES = ("entering", "between")

    def carry_out(self, batch: TournamentBatch) -> None:
        state = batch.state
        if state.round and (state.round >= state.rounds or len(state.present) < 2):
            batch.add("tournament_finished")
            return
        refuse_if(len(state.present) < 2, "tour.too_few")
        rows, rounds = _first(state) if not state.round else _following(state)
        number, at = state.round + 1, len(state.games)
        games = [replace(g, number=at + n, round=number) for n, g in enumerate(rows, 1)]
        batch.add("round_paired", round=number, rounds=rounds, games=[asdict(g) for g in games])
        for game in games:
            if len(game.players) < 2:
                asked = any(batch.state.entrants[p].sits_out == number for p in game.players)
                _over(batch, game, "requested" if asked else "bye", game.players[0] if game.players else None)


class CallGame(TournamentCommand):
    """These players go to that table now, where so many matches have been begun before (``after``)."""

    game: int
    table: str
    after: int = 0
    PHASES = ("round",)

    def carry_out(self, batch: TournamentBatch) -> None:
        state, game = batch.state, _game(batch.state, self.game)
        refuse_if(game.phase != "waiting", "tour.not_waiting", n=self.game)
        refuse_if(self.table not in state.tables, "tour.no_table", table=self.table)
        if taken := state.at_table(self.table):
            raise IllegalCommand(sentence("tour.table_taken", table=self.table, n=taken.number))
        for player in game.players:
            if other := state.busy(player):
                raise IllegalCommand(sentence("tour.busy", player=state.entrants[player].name, table=other.table))
        batch.add("game_called", game=self.game, table=self.table, after=self.after)


class GameBegins(TournamentCommand):
    """The table has begun that match between these players, in the match's order."""

    game: int
    match_id: Needed
    seated: tuple[int, ...]
    PHASES = ("round",)

    def carry_out(self, batch: TournamentBatch) -> None:
        game = _game(batch.state, self.game)
        refuse_if(game.phase != "called", "tour.not_called", n=self.game)
        used = [g for g in batch.state.games if self.match_id == g.match_id or self.match_id in g.void]
        refuse_if(used, "tour.match_used", match=self.match_id)
        fits = len(set(self.seated)) == len(self.seated) >= 2 and set(self.seated) <= set(game.players)
        refuse_if(not fits, "tour.not_these", n=self.game)
        batch.add("game_began", game=self.game, match_id=self.match_id, seated=list(self.seated))


class GameEnds(TournamentCommand):
    """The match is over; once more when its result was changed at the table, as long as no pairing was built on it."""

    game: int
    match_id: Needed
    result: GameResult
    PHASES = ("round", "between")

    def carry_out(self, batch: TournamentBatch) -> None:
        game = _game(batch.state, self.game)
        here = game.match_id == self.match_id and (game.result is None or game.result.by == "match")
        playing = game.phase in ("playing", "done") and here
        refuse_if(not playing, "tour.not_playing", n=self.game, match=self.match_id)
        _not_built_on(batch.state, game)
        refuse_if({row.player for row in self.result.rows} != set(game.seated), "tour.not_these", n=self.game)
        batch.add("game_ended", game=self.game, match_id=self.match_id, result=asdict(self.result))


class RuleGame(TournamentCommand):
    """An organiser says who won, None for shared: of a game of two that cannot be played to its end, or was wrong."""

    game: int
    winner: int | None
    why: Needed
    who: Needed
    PHASES = ("round", "between")

    def carry_out(self, batch: TournamentBatch) -> None:
        game = _game(batch.state, self.game)
        refuse_if(len(game.players) != 2 or game.stage == "group", "tour.rule_two", n=self.game)
        refuse_if(self.winner is not None and self.winner not in game.players, "tour.not_these", n=self.game)
        refuse_if(self.winner is None and game.stage == "knockout", "tour.needs_winner", n=self.game)
        _not_built_on(batch.state, game)
        _over(batch, game, "ruling", self.winner, self.why)


class Rerun(TournamentCommand):
    """A game is played once more: what was played counts no longer. Not once a pairing was built on it."""

    game: int
    why: Needed
    who: Needed
    PHASES = ("round", "between")

    def carry_out(self, batch: TournamentBatch) -> None:
        state, game = batch.state, _game(batch.state, self.game)
        refuse_if(game.phase == "waiting" or len(game.players) <= 1, "tour.not_played", n=self.game)
        _not_built_on(state, game)
        for entrant in (state.entrants[player] for player in game.players):
            refuse_if(not entrant.present, "tour.gone", player=entrant.name)
        batch.add("game_waits", game=self.game, why=self.why)


def decide(state: Tournament, command: TournamentCommand, at: str) -> tuple[Event, ...]:
    """The events the command leads to (at least one): ``referee.core.decide`` for a tournament."""
    refuse_if(state.phase not in command.PHASES, "tour.phase", command=type(command).__name__, phase=state.phase)
    return core.decide(_DECIDER, state, command, at)


def _free_name(taken: Sequence[str], name: str) -> str:
    """The name as it is kept. Raises IllegalCommand for one that is taken, empty, too long or not one line."""
    kept = normalized_name(name)
    refuse_if(comparable_name(kept) in map(comparable_name, taken), "tour.taken", player=kept)
    return kept


def _free_table(taken: Sequence[str], table: str) -> str:
    kept = " ".join(table.split())
    fits = bool(kept) and kept.isprintable() and len(kept) <= MOST_NAME and "/" not in kept and kept != RECORD
    refuse_if(not fits, "tour.table_name", table=kept[:20])
    refuse_if(kept in taken, "tour.table_there", table=kept)
    return kept


def _entrant(state: Tournament, player: int) -> Entrant:
    refuse_if(not 0 <= player < len(state.entrants), "tour.no_player", n=player)
    return state.entrants[player]


def _game(state: Tournament, number: int) -> Fixture:
    game = state.game(number)
    if game is None:
        raise IllegalCommand(sentence("tour.no_game", n=number))
    return game


def _over(batch: TournamentBatch, game: Fixture, by: str, winner: int | None, why: str = "") -> None:
    """A game that ends without a match: the winner is first, the others have no place."""
    shared = by == "ruling" and winner is None
    rows = tuple(
        ResultRow(p, place=1 if shared or p == winner else 2 if by == "ruling" else None) for p in game.players
    )
    batch.add("game_ended", game=game.number, match_id=game.match_id, result=asdict(GameResult(rows, by, 0.0, why)))


def _not_built_on(state: Tournament, game: Fixture) -> None:
    """Raises IllegalCommand when a knock-out was drawn from that game's result."""
    later = any(g.round > game.round and g.stage == "knockout" for g in state.games)
    refuse_if(later, "tour.built_on", n=game.number)


def _new(stage: Stage, players: Sequence[int], label: str = "") -> Fixture:
    return Fixture(0, 0, stage, tuple(players), label)


def _first(state: Tournament) -> tuple[list[Fixture], int]:
    """The games of the first round, and how many rounds there will be."""
    ranked, options = ranked_entrants(state, ENTRY_ORDER), state.options
    if STAGE_OF[options.format] == "swiss":
        return _swiss(state, ranked), options.rounds or pairing.swiss_rounds(len(ranked))
    dealt = pairing.split_into_groups(ranked, options.group_size)
    games = [_new("group", players, _letters(n)) for n, players in enumerate(dealt)]
    if options.format == "printed":
        return games, 1
    return games, 1 + (pairing.knockout_size(options.advance or 2 * len(dealt), len(ranked)) - 1).bit_length()


def _letters(n: int) -> str:
    """A, B … Z, AA, AB …"""
    return (_letters(n // 26 - 1) if n >= 26 else "") + chr(ord("A") + n % 26)


def _swiss(state: Tournament, ranked: Sequence[int]) -> list[Fixture]:
    made, absent = points(state), [p for p in ranked if state.entrants[p].sits_out == state.round + 1]
    playing = [p for p in ranked if p not in absent]
    floats = [pairing.floats_of(state, state.round - n) for n in (0, 1)]
    pairs, resting = pairing.swiss(playing, made, state, floats)
    off = [*absent, *([resting] if resting is not None else [])]
    return [_new("swiss", players) for players in (*pairs, *((p,) for p in off))]


def _following(state: Tournament) -> tuple[list[Fixture], int]:
    """The games of the next round, and how many rounds there will be."""
    last = state.of_round(state.round)
    if last[0].stage == "swiss":
        return _swiss(state, ranked_entrants(state)), state.rounds
    if last[0].stage == "group":
        size = pairing.knockout_size(state.options.advance or 2 * len(last), len(state.present))
        group_of = {p: g.number for g in last for p in g.players}
        pairs = pairing.knockout(ranked_entrants(state)[:size], group_of)
        return [_new("knockout", pair) for pair in pairs], 1 + (size - 1).bit_length()
    on = [knockout_winner(game) for game in last]
    there = [() if p is None or not state.entrants[p].present else (p,) for p in on]
    return [_new("knockout", (*a, *b)) for a, b in zip(there[::2], there[1::2], strict=True)], state.rounds


FOR_ORGANISERS = (Enter, Leave, SitOut, Return, Rename, OpenTable, CloseTable, PairRound, Rerun, RuleGame)
"""What people ask for; the other commands are the director's own."""

_KINDS = tuple(TournamentCommand.__subclasses__())
_DECIDER = Decider(
    evolve, lambda state, command: "", dict.fromkeys(_KINDS, lambda batch, command: command.carry_out(batch))
)
