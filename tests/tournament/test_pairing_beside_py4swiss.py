"""The export as TRF16, read back by py4swiss; and what py4swiss pairs from it beside our own pairings."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from bench_pairing import compare
from organised import Organised
from py4swiss.trf import TrfParser

from referee.errors import IllegalCommand
from referee.tournament.commands import Enter, Leave, PairRound, RuleGame, SitOut
from referee.tournament.standings import points, standings
from referee.web.hall.export import to_trf


def test_an_exported_swiss_is_read_back_whole(tmp_path):
    cup = Organised([*"ABCDEFG", "Üwe with a name of fifty letters, and then some"], 4, rounds=4)
    cup.do(SitOut(2), PairRound())
    cup.play_round()
    cup.do(Enter("Late"), PairRound())
    game = next(g for g in cup.state.of_round(2) if not g.bye)
    cup.do(Leave(game.players[0], "train"))
    shared = next(g for g in cup.state.of_round(2) if not g.bye and g.result is None)
    cup.do(RuleGame(shared.number, None, "lamp broke", "Org"))
    cup.play_round()
    cup.do(PairRound())
    read = TrfParser.parse(written(tmp_path, to_trf(cup.state)), strict=True)
    assert read.tournament_section.tournament_name == "Cup" and read.x_section.number_of_rounds == 4
    made, names = points(cup.state), [e.name for e in cup.state.entrants]
    ranked = [row.player for row in standings(cup.state)]
    for player, row in enumerate(read.player_sections):
        assert row.name == names[player][:33].rstrip() and row.points_times_ten == 5 * made[player]
        assert row.rank == 1 + ranked.index(player) and len(row.results) == 2, "a round that runs is not told"
    told = {r.result.value for row in read.player_sections for r in row.results}
    assert told >= set("10=+-UHZ")


def written(folder, text):
    file = folder / "cup.trf"
    file.write_text(text, encoding="utf-8")
    return file


def test_groups_have_no_place_in_trf16():
    cup = Organised(4, 1, format="groups")
    with pytest.raises(IllegalCommand, match="use the JSON"):
        to_trf(cup.state)


def test_every_round_is_paired_as_py4swiss_pairs_it():
    """A few tournaments of ``bench_pairing.py``."""
    total = compare(range(4))
    assert 15 < total["rounds compared"] == total["rounds"] == total["the same pairs"]
    assert 5 < total["rounds with somebody resting"] == total["the same one rests"]
