"""An event with many tables: one store, one program a table, each going on with its own match."""

from __future__ import annotations

from contextlib import closing
from unittest.mock import MagicMock

from cards.deck import builtin_deck
from cards.pieces import builtin_piece_set
from referee.journal import Journal
from referee.match import DrawCard, Ready
from referee.ports import SystemClock
from referee.session import Session


def program(journal, folder, table):
    """The shell of one table's program, its devices and eyes left out."""
    return Session(
        journal=journal,
        deck=builtin_deck(),
        piece_set=builtin_piece_set(),
        observer=MagicMock(),
        gate=MagicMock(),
        camera=MagicMock(),
        box=MagicMock(),
        clock=SystemClock(),
        data_dir=folder,
        simulated=True,
        table=table,
    )


def test_each_table_goes_on_with_its_own_match(store, tmp_path):
    with closing(Journal(store)) as one, closing(Journal(store)) as two:
        amber, blue = program(one, tmp_path, "amber"), program(two, tmp_path, "blue")
        amber.create_match(["Ann", "Ben"])
        amber.command(DrawCard())
        assert blue.state.phase == "new"
        blue.create_match(["Cem", "Dia", "Eva"])
        blue.command(DrawCard())
        blue.command(Ready())
    with closing(Journal(store)) as journal:
        again = {table: program(journal, tmp_path, table).state for table in ("amber", "blue", "new")}
        assert {table: state.phase for table, state in again.items()} == {
            "amber": "card_drawn",
            "blue": "ready",
            "new": "new",
        }
        assert again["blue"].players == ("Cem", "Dia", "Eva")
        assert len(journal.matches()) == 2
        assert sum(journal.verify().values()) == 5
