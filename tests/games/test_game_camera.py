"""What pictures propose against the record, and how the console offers it."""

from __future__ import annotations

import io
import re
from contextlib import closing
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from cards.pieces import builtin_piece_set
from cards.sentences import sentence
from referee.devices.ports import SystemClock
from referee.errors import CannotSee
from referee.games.catalogue import GAMES
from referee.games.city_towers.door import owners
from referee.games.city_towers.rules import City, PickStones, PlayStone
from referee.games.core import MoveProposal
from referee.journal.journal import Journal
from referee.session.game_camera import PlanCamera, TableReading
from referee.session.game_table import GameTable
from referee.web.games.app import create_game_app
from referee.web.server import Server

PICKS = (4, 3, 2, 1, 1, 1)


@pytest.fixture
def table(tmp_path):
    journal = Journal(tmp_path / "journal.db")
    setup = GAMES["city_towers"].setup(["Ann", "Ben"], {}, 4, "scorer")
    begun = GameTable.begun(journal, SystemClock(), "city_towers", setup)
    for seat in (0, 1):
        begun.command(PickStones(seat, PICKS), "Ann")
    begun.command(PlayStone(0, 3, 5, 2), "Ann")
    yield begun
    journal.close()


def propose(state: City, towers: dict, unknown=()) -> MoveProposal:
    """What is proposed where these sites show these owners; the pictures do not tell of the ``unknown`` ones."""
    cities: dict = {}
    names = ("red", "blue", "green", "yellow")
    plan = SimpleNamespace(sites={}, names=names, allows=lambda site, owners: False)
    for city, site in towers:
        colors = [names[seat] for seat in towers[city, site]]
        cities.setdefault(city, plan).sites[site] = SimpleNamespace(colors=colors, sure=(city, site) not in unknown)
    return GAMES["city_towers"].proposal(state, cities)


def seen_of(state: City, **changed) -> dict:
    """Every site of city 2 as on record, but those that are named ``s5`` …"""
    seen = {(2, site): owners(state.tower(2, site)) for site in range(1, 10)}
    return seen | {(2, int(name[1:])): there for name, there in changed.items()}


def test_one_stone_on_top_is_proposed_as_the_move_that_it_is(table):
    told = propose(table.match.state, seen_of(table.match.state, s5=(0, 0, 0, 1, 1, 1, 1)))
    assert told.command == PlayStone(1, 4, 5, 2) and not told.refusal
    assert told.message == "Ben placed a stone of height 4 on site 5 of city 2"
    free = propose(table.match.state, seen_of(table.match.state, s1=(1,)))
    assert free.command == PlayStone(1, 1, 1, 2)


def test_a_stone_that_is_too_low_is_named_with_the_rules_refusal(table):
    told = propose(table.match.state, seen_of(table.match.state, s5=(0, 0, 0, 1)))
    assert told.command == PlayStone(1, 1, 5, 2) and "3" in told.refusal


def test_a_stone_out_of_turn_is_refused_not_proposed_to_somebody_else(table):
    told = propose(table.match.state, seen_of(table.match.state, s1=(0,)))
    assert told.command == PlayStone(0, 1, 1, 2) and "Ben" in told.refusal


@pytest.mark.parametrize("there", [(), (0, 0), (1, 0, 0, 1), (0, 0, 0, 1, 0), (0, 0, 0, 1, 1, 1, 1, 1), (0, 0, 0, 3)])
def test_what_is_not_one_stone_on_top_is_never_a_move(table, there):
    told = propose(table.match.state, seen_of(table.match.state, s5=there))
    assert told.command is None and told.differ == ((2, 5),)


def test_two_sites_that_differ_are_named_and_nothing_is_proposed(table):
    told = propose(table.match.state, seen_of(table.match.state, s1=(1,), s9=(1,)), [(2, 4)])
    assert told.command is None and "2/1 and 2/9" in told.message and told.unknown == ((2, 4),)


def test_nothing_new_is_said_so(table):
    told = propose(table.match.state, seen_of(table.match.state))
    assert told.command is None and told.message == "what the pictures show of 9 sites is as on record"


class Told(PlanCamera):
    """A camera whose looks are given."""

    def __init__(self, *proposals: MoveProposal | CannotSee) -> None:
        self.proposals = list(proposals)

    def look(self, match, picture):
        told = self.proposals.pop(0)
        if isinstance(told, CannotSee):
            raise told
        return TableReading(1, told, {2: np.full((40, 60, 3), 90, np.uint8)})


def visit(table, folder, camera):
    client = create_game_app(table, folder, SystemClock(), camera=camera).test_client()

    def ask(path, **form):
        answer = client.post(path, data=form, content_type="multipart/form-data")
        return answer.status_code, answer.get_data(as_text=True)

    return ask


def picture() -> tuple[io.BytesIO, str]:
    return io.BytesIO(cv2.imencode(".png", np.full((100, 120, 3), 200, np.uint8))[1].tobytes()), "table.png"


def confirmed(html: str) -> dict[str, str]:
    form = re.search(r'<form method="post" action="/referee/do">.*?</form>', html)[0]
    return {name: value for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', form)}


def test_the_console_offers_the_proposal_with_its_picture_and_one_key(table, tmp_path):
    move = propose(table.match.state, seen_of(table.match.state, s1=(1,)))
    ask = visit(table, tmp_path, Told(move))
    status, html = ask("/referee/look", picture=picture())
    assert status == 200 and move.message in html and "data:image/jpeg;base64," in html and "autofocus" in html
    form = confirmed(html)
    assert ask("/referee/do", **form)[0] == 303
    assert table.match.state.tower(2, 1) == ((1, 1),)
    status, html = ask("/referee/do", **form)
    assert status == 409 and table.match.state.tower(2, 1) == ((1, 1),)


def test_what_the_rules_refuse_cannot_be_confirmed(table, tmp_path):
    move = propose(table.match.state, seen_of(table.match.state, s5=(0, 0, 0, 1)))
    status, html = visit(table, tmp_path, Told(move))("/referee/look", picture=picture())
    assert status == 200 and move.message in html and "autofocus" not in html


def test_a_picture_without_a_plan_or_that_is_none_is_one_clear_line(table, tmp_path):
    ask = visit(table, tmp_path, Told(CannotSee(sentence("game.camera.no_plan"))))
    assert "no city plan is in the pictures" in ask("/referee/look", picture=picture())[1]
    status, html = ask("/referee/look", picture=(io.BytesIO(b"nonsense"), "x.jpg"))
    assert status == 409 and "not a picture" in html
    status, html = ask("/referee/look")
    assert status == 409 and "an empty file" in html


def test_a_bare_table_is_refused_by_the_camera_itself_and_its_picture_is_not_kept(table):
    camera = PlanCamera(builtin_piece_set("city_stones"))
    with pytest.raises(CannotSee, match="no city plan"):
        camera.look(table.match, np.full((300, 400, 3), 200, np.uint8))
    assert camera._pictures == []


def test_without_a_camera_the_console_has_none(table, tmp_path):
    ask = visit(table, tmp_path, None)
    assert ask("/referee/look", picture=picture())[0] == 404


@pytest.mark.slow
def test_enter_confirms_the_proposal_in_a_browser(table, tmp_path, browser):
    move = propose(table.match.state, seen_of(table.match.state, s1=(1,)))
    app = create_game_app(table, tmp_path, SystemClock(), camera=Told(move))
    (tmp_path / "table.png").write_bytes(picture()[0].getvalue())
    with closing(Server(app, "127.0.0.1", 0)) as server, closing(browser.new_context()) as window:
        page = window.new_page()
        page.goto(f"{server.url}referee")
        page.set_input_files('input[name="picture"]', str(tmp_path / "table.png"))
        page.click('form[action="/referee/look"] button')
        page.wait_for_selector('[role="status"]')
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert table.match.state.tower(2, 1) == ((1, 1),) and not page.query_selector(".fault")
