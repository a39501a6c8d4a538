"""The pages of a game without a browser: what they show to whom, and what they refuse."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from recount import panel_sums

from referee.devices.ports import SystemClock
from referee.errors import IllegalCommand
from referee.games.catalogue import GAMES
from referee.games.city_towers.rules import PickStones
from referee.games.match import UndoMove
from referee.games.quarters_and_currencies.rules import ReadHand, ReadIn
from referee.games.tower_bets.rules import STYLES, PlayCard, ReadPile
from referee.journal.journal import Journal
from referee.session.game_table import GameTable
from referee.simulator.city_camera import next_command
from referee.vision.image.game_cards import Column
from referee.web.games.app import create_game_app, form_of
from referee.web.i18n.texts import LANGUAGES, catalogue
from referee.web.pages.evening import qr_svg


@pytest.fixture
def journal(tmp_path):
    opened = Journal(tmp_path / "journal.db")
    yield opened
    opened.close()


class Pages:
    """A game and a visitor of its pages."""

    def __init__(self, journal, folder, game="city_towers", mode="full", players=2, pin=None):
        setup = GAMES[game].setup(["Ann", "Ben", "Cem", "Dia"][:players], {}, 4, mode)
        self.table = GameTable.begun(journal, SystemClock(), game, setup, simulated=True)
        self.app = create_game_app(self.table, folder, SystemClock(), pin)
        self.client = self.app.test_client()

    def get(self, path):
        answer = self.client.get(path)
        return answer.status_code, answer.get_data(as_text=True)

    def post(self, path, page="/", **form):
        self.get(page)  # a visitor who has seen it: its language stays
        answer = self.client.post(path, data=form)
        return answer.status_code, answer.get_data(as_text=True)

    def links(self):
        return re.findall(r'href="(/seat/[0-9a-f]{24})"', self.get("/referee")[1])


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("game", GAMES)
def test_every_page_shows_the_game_at_any_moment_in_both_languages(game, lang, journal, tmp_path):
    pages = Pages(journal, tmp_path, game)
    links = pages.links()
    for count in range(40):
        if count % 8 == 0:
            for path in ("/", "/referee", *links):
                status, html = pages.get(f"{path}?lang={lang}")
                assert status == 200 and catalogue(lang)[f"game.name.{game}"] in html
                assert catalogue(lang)["simulated.mark"] in html and "game.page." not in html
        pages.table.command(next_command(pages.table.match))
    assert "game." not in re.sub(r'"[^"]*"', "", html)


@pytest.mark.parametrize("game", GAMES)
def test_the_panel_on_board_and_phone_says_where_every_point_comes_from(game, journal, tmp_path):
    pages = Pages(journal, tmp_path, game, players=2)
    while not pages.table.match.over:
        pages.table.command(next_command(pages.table.match))
    for path in ("/", pages.links()[0]):
        panel = re.search(r'<section class="scoring".*?</section>', pages.get(path)[1], re.S)[0]
        sums = re.findall(r'<td class="num score">(\d+)</td>', panel)
        owners = len(sums) // len(pages.table.match.view(None)["scored"])
        totals = [sum(map(int, sums[n::owners])) for n in range(owners)]
        assert totals == panel_sums(pages.table.match.view(None)) and len(totals) >= 2
        cells = re.sub(r"<tfoot>.*?</tfoot>|<ul>.*?</ul>|<thead>.*?</thead>", "", panel, flags=re.S)
        cells = cells.partition("<summary>" + catalogue("en")["game.scoring.reference"])[0]
        each = [int(n) for b in re.findall(r"<b>([\d +]+)</b>", cells) for n in b.split("+")]
        assert sum(each) == sum(totals)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_field_and_command_of_the_console_has_a_text(lang):
    texts = catalogue(lang)
    kinds = [kind for game in GAMES.values() for kind in game.commands]
    wanted = [f"game.do.{kind.NAME}" for kind in kinds]
    wanted += [f"game.field.{field['name']}" for kind in kinds for field in form_of(kind)]
    assert [key for key in wanted if key not in texts] == []


def test_a_seat_plays_from_its_own_page_and_from_no_other(journal, tmp_path):
    pages = Pages(journal, tmp_path, "tower_bets")
    ann, ben = pages.links()
    assert pages.table.match.legal(1) and '<select name="choice"' not in pages.get(ann)[1]
    version = pages.table.version
    status, _ = pages.post(ben, ben, version=version, choice=0)
    assert status == 303 and pages.table.match.played[0].who == "Ben"
    status, html = pages.post(ben, ben, version=version, choice=0)
    assert status == 409 and "The game has moved on" in html
    assert pages.post(ann, ann, version=pages.table.version, choice=0)[0] == 409
    assert len(pages.table.match.played) == 1


def test_the_console_taps_for_real_cards_what_lies_open_and_never_a_dealt_hand(journal, tmp_path):
    """Hands are unknown on the console, also those that a scorer has read in."""
    assert '<select name="choice"' not in Pages(journal, tmp_path, "tower_bets").get("/referee")[1]
    pages = Pages(journal, tmp_path, "quarters_and_currencies", "scorer")
    for seat, hand in enumerate((("a9", "b8", "a7"), ("c9", "d8", "c7"))):
        assert '<select name="choice"' not in pages.get("/referee")[1], "a hand is read in secretly"
        pages.table.command(ReadHand(seat, hand))
    while pages.table.match.state.phase.startswith("reading"):
        match = pages.table.match
        tries = map(partial(ReadIn, 0), sorted(match.game.deck(match.state)))
        pages.table.command(next(command for command in tries if legal(match, command)))
    version, html = pages.table.version, pages.get("/referee")[1]
    offered = re.findall(r'<option value="\d+" data-ids="do=(\w+)', html)
    assert "Tap what was done" in html and html.index('class="taps') < html.index("Enter what was done")
    assert set(offered) == {"TakeMoney"} and not re.search(r"\ba9\b", html)  # seats' secrets have it within
    assert '<select name="choice"' not in pages.get("/")[1]
    assert pages.post("/referee/do", "/referee", version=version - 1, choice=0)[0] == 409
    assert pages.post("/referee/do", "/referee", version=version, choice=len(offered))[0] == 409
    assert pages.post("/referee/do", "/referee", version=version, choice=0)[0] == 303
    assert pages.table.match.played[-1].command["command"] == "TakeMoney"


def legal(match, command):
    """Whether the rules take the command."""
    try:
        return match.game.decide(match.state, command)
    except IllegalCommand:
        return None


def test_the_console_says_why_a_tap_is_refused_without_looking_into_hands(journal, tmp_path):
    pages = Pages(journal, tmp_path, "city_towers", "scorer")
    for seat in (0, 1):
        assert '<select name="choice"' not in pages.get("/referee")[1], "picking is secret"
        pages.table.command(PickStones(seat, (1, 1, 1, 2, 2, 3)))
    assert pages.get("/referee/do/why?choice=0&stone=4")[1] == "Ann has no stone of height 4 left in this round"
    assert pages.get("/referee/do/why?choice=0")[1] == pages.get("/referee/do/why?choice=9999")[1] == ""


def test_bets_by_click(journal, tmp_path):
    """Chips are no cards: what the camera proposes is what was built, and the bet is chosen on the phone."""
    pages = Pages(journal, tmp_path, "tower_bets")
    _, ben = pages.links()
    match, lying = pages.table.match, [Column(style, 0) for style in STYLES if style != "C"]
    assert match.game.proposal(match.state, [*lying, Column("C", 2)]).command == PlayCard(1, "C", 2)
    built = next(c for c in pages.table.match.legal(1) if c.storeys == 1)
    pages.table.command(built)
    match, columns = pages.table.match, [Column(style, int(style == built.style)) for style in STYLES]
    assert match.game.proposal(match.state, columns).command is None
    offered = re.findall(r'<option value="(\d+)" [^>]*>Ben bets a chip of (\d) on tower ([A-E])<', pages.get(ben)[1])
    choice, chip, tower = offered[-1]
    assert pages.post(ben, ben, version=pages.table.version, choice=choice)[0] == 303
    assert pages.table.match.state.bets[STYLES.index(tower)] == ((1, (int(chip),)),)


def test_a_seats_page_shows_its_cards_and_the_board_shows_none(journal, tmp_path):
    pages = Pages(journal, tmp_path, "nine_sum_towers")
    ann, ben = pages.links()
    hands = [re.search(r'stack own">(.*?)</section>', pages.get(link)[1], re.S)[1] for link in (ann, ben)]
    assert hands[0].count('money"') == 6 and hands[1].count('money"') == 5 and "?" not in hands[0] + hands[1]
    assert 'stack own"' not in pages.get("/")[1]


def test_no_page_but_a_seats_own_shows_what_it_picks_before_all_have_picked(journal, tmp_path):
    pages = Pages(journal, tmp_path)
    ann, ben = pages.links()
    pages.table.command(PickStones(0, (2, 2, 2, 3, 3, 3)))
    assert "Ann picks stones 2 2 2 3 3 3" in pages.get(ann)[1]
    assert "picks stones 2 2 2 3 3 3" not in "".join(pages.get(path)[1] for path in ("/", "/referee"))
    assert "Ann picks stones 2 2 2 3 3 3" not in pages.get(ben)[1]
    pages.table.command(UndoMove("Ref", "misread"))
    assert "Ann picks stones 2 2 2 3 3 3" in pages.get(ann)[1]
    for path in ("/", "/referee", ben):
        assert "Ann picks stones ? ? ? ? ? ? (misread)" in pages.get(path)[1]


@pytest.mark.parametrize("game", GAMES)
def test_what_is_tapped_for_a_move_tells_it_from_every_other(game, journal, tmp_path):
    pages = Pages(journal, tmp_path, game)
    links = pages.links()
    for _ in range(30):
        command = next_command(pages.table.match)
        legal = pages.table.match.legal(command.seat)
        html = pages.get(links[command.seat])[1]
        moves = [" ".join(sorted(ids.split(" "))) for ids in re.findall(r'data-ids="([^"]*)"', html)]
        assert len(set(moves)) == len(moves) == len(legal)
        parts = {part for target in re.findall(r'data-target="([^"]+)"', html) for part in re.split(r"[ +]", target)}
        wanted = {part for move in moves for part in move.split(" ") if not part.startswith("do=")}
        assert wanted <= parts, (game, wanted - parts)
        pages.table.command(command)


def test_a_tap_that_is_no_move_is_answered_by_the_rules_and_not_for_another_seat(journal, tmp_path):
    pages = Pages(journal, tmp_path)
    ann, ben = pages.links()
    for seat in (0, 1):
        pages.table.command(PickStones(seat, (1, 1, 1, 2, 2, 3)))
    hand = pages.table.match.state.hands[0]
    missing = next(site for site in "123456789" if site not in hand)
    assert pages.get(f"{ann}/why?choice=0&city=1&site={missing}&lang=en")[1] == f"Ann has no card {missing}"
    assert pages.get(f"{ann}/why?choice=0&city=1&site={missing}&seat=1")[1] == f"Ann has no card {missing}"
    assert pages.get(f"{ann}/why?choice=0")[1] == pages.get(f"{ann}/why?choice=x")[1] == ""
    assert pages.get(f"{ben}/why?choice=0")[1] == "" and pages.get("/seat/none/why")[0] == 404
    assert len(pages.table.match.played) == 2


def test_the_list_says_which_payment_is_exact_and_which_is_too_much(journal, tmp_path):
    pages = Pages(journal, tmp_path, "quarters_and_currencies")
    html = pages.get(pages.links()[pages.table.match.state.turn])[1]
    said = set(re.findall(r"for [a-d\d ]+ – ([a-z ]+)", html))
    assert said == {"exact", "overpaid by "}


def test_the_console_has_a_code_of_every_private_link_that_nobody_else_can_ask_for(journal, tmp_path):
    pages = Pages(journal, tmp_path, pin="123456")
    assert pages.client.get("/referee/seat/0.svg").status_code == 401
    assert pages.post("/login", "/login", pin="123456", name="Ref", next="/referee")[0] == 303
    assert re.findall(r'src="(/referee/seat/\d.svg)"', pages.get("/referee")[1]) == [
        f"/referee/seat/{n}.svg" for n in (0, 1)
    ]
    assert "--host 0.0.0.0" in pages.get("/referee")[1] and pages.get("/referee/seat/2.svg")[0] == 404
    local = pages.get("/referee/seat/0.svg")[1]
    assert local == qr_svg("http://localhost" + pages.links()[0])
    pages.app.extensions["referee.address"] = "http://192.0.2.7:8000/"
    assert pages.get("/referee/seat/1.svg")[1] == qr_svg("http://192.0.2.7:8000" + pages.links()[1])
    assert "--host 0.0.0.0" not in pages.get("/referee")[1]


@pytest.mark.parametrize(("game", "targets"), [("nine_sum_towers", 18), ("city_towers", 54), ("tower_bets", 5)])
def test_a_seat_with_real_cards_taps_any_that_it_may_hold(game, targets, journal, tmp_path):
    pages = Pages(journal, tmp_path, game, "scorer")
    links = pages.links()
    setup = [PickStones(seat, (1, 1, 1, 2, 2, 3)) for seat in (0, 1)] if game == "city_towers" else []
    setup = [ReadPile(1, pile, "A") for pile in (1, 2, 3)] if game == "tower_bets" else setup
    for command in setup:
        pages.table.command(command)
    turn = pages.table.match.state.turn
    of = {"nine_sum_towers": 'first=|do=[A-Z]\\w+"|tool=', "city_towers": "city=", "tower_bets": 'style=."'}[game]
    assert len(re.findall(f'data-target="(?:{of})', pages.get(links[turn])[1])) == targets
    legal = pages.table.match.legal(turn)
    choice = next(n for n, move in enumerate(legal) if move.NAME in ("BuildStorey", "PlayStone", "Build"))
    assert pages.post(links[turn], links[turn], version=pages.table.version, choice=choice)[0] == 303


def test_an_unknown_link_is_no_seat_and_links_last_over_a_restart(journal, tmp_path):
    pages = Pages(journal, tmp_path)
    assert pages.get("/seat/000000000000000000000000")[0] == 404
    again = create_game_app(pages.table, tmp_path, SystemClock()).test_client()
    assert again.get(pages.links()[0]).status_code == 200


def test_a_scorer_enters_what_was_done_and_is_told_why_not(journal, tmp_path):
    pages = Pages(journal, tmp_path, "nine_sum_towers", "scorer")
    status, html = pages.post("/referee/do", command="BuildStorey", seat=0, first="6", second="4")
    assert status == 409 and "a storey sums to nine: 6 and 4 are 10" in html
    assert pages.post("/referee/do", command="BuildStorey", seat=0, first="6", second="3")[0] == 303
    assert "Ann builds a storey of 6 and 3" in pages.get("/")[1]
    assert pages.post("/referee/do", command="Fly", seat=0)[0] == 409
    assert pages.post("/referee/do", command="SetDog", seat=0, storey="top")[0] == 409
    assert len(pages.table.match.played) == 1


def test_a_list_of_stones_may_have_commas_or_spaces(journal, tmp_path):
    pages = Pages(journal, tmp_path)
    for seat, stones in ((0, "1 1 1 2 2 3"), (1, "1,1, 1,2,2,3")):
        assert pages.post("/referee/do", command="PickStones", seat=seat, stones=stones)[0] == 303
    assert pages.table.match.state.phase == "playing"


@pytest.mark.parametrize("game", GAMES)
def test_the_console_opens_the_form_of_what_can_be_done_now(game, journal, tmp_path):
    pages, opened = Pages(journal, tmp_path, game), set()
    for _ in range(40):
        found = re.findall(r'<details open><summary>.*?name="command" value="(\w+)"', pages.get("/referee")[1], re.S)
        assert len(found) == 1
        kind = next(kind for kind in pages.table.match.game.commands if found[0] == kind.NAME)
        assert pages.table.match.state.phase in kind.PHASES
        opened |= {*found}
        pages.table.command(next_command(pages.table.match))
    assert len(opened) == {"city_towers": 2, "tower_bets": 3}.get(game, len(opened))


def test_undo_and_correction_say_who_and_why(journal, tmp_path):
    pages = Pages(journal, tmp_path, "nine_sum_towers", "scorer")
    pages.post("/referee/do", command="BuildStorey", seat=0, first="6", second="3")
    status, html = pages.post("/referee/do", command="BuildStorey", seat=0, first="5", second="4", number=1)
    assert status == 409 and "Correct needs who and why" in html
    fixed = {"first": "5", "second": "4", "number": 1, "who": "Ref", "why": "misread"}
    assert pages.post("/referee/do", command="BuildStorey", seat=0, **fixed)[0] == 303
    assert "Ref corrects command 1 (misread): it was Ann builds a storey of 6 and 3" in pages.get("/")[1]
    assert pages.post("/referee/undo", who="Ref", why="not yet")[0] == 303
    assert "Ref takes back: Ann builds a storey of 5 and 4 (not yet)" in pages.get("/")[1]
    assert pages.post("/referee/undo", who="Ref")[0] == 409


def test_with_a_pin_the_console_is_closed_and_board_and_seats_are_open(journal, tmp_path):
    pages = Pages(journal, tmp_path, pin="123456")
    assert pages.get("/")[0] == 200 and pages.get("/version")[0] == 200
    assert pages.client.get("/referee", headers={"Accept": "text/html"}).status_code == 302
    assert pages.post("/referee/undo", "/login", who="Eve")[0] == 401
    assert pages.post("/login", "/login", pin="123456", name="Ref", next="/referee")[0] == 303
    assert pages.get("/referee")[0] == 200
    with pytest.raises(ValueError, match="PIN"):
        create_game_app(pages.table, tmp_path, SystemClock(), None, "0.0.0.0")


def test_a_command_from_another_site_is_refused(journal, tmp_path):
    pages = Pages(journal, tmp_path)
    foreign = {"Origin": "http://elsewhere"}
    assert pages.client.post("/referee/undo", data={"who": "Eve"}, headers=foreign).status_code == 403
    assert pages.client.post(pages.links()[0], data={"choice": "0"}, headers=foreign).status_code == 403


def test_the_version_grows_with_every_command(journal, tmp_path):
    pages = Pages(journal, tmp_path)
    before = pages.client.get("/version").json["version"]
    pages.table.command(next_command(pages.table.match))
    assert pages.client.get("/version").json["version"] > before


def test_a_refusal_is_said_in_the_visitors_language(journal, tmp_path):
    pages = Pages(journal, tmp_path, "tower_bets")
    wrong = {"command": "Build", "seat": 1, "style": "Q", "storeys": 1}
    status, html = pages.post("/referee/do", "/referee?lang=de", **wrong)
    assert status == 409 and "einen Turm &#39;Q&#39; gibt es nicht: es sind A bis E" in html
    status, html = pages.post("/referee/do", "/referee?lang=en", **wrong)
    assert status == 409 and "there is no tower &#39;Q&#39;: they are A to E" in html
    assert "diesen Platz gibt es nicht" in pages.get("/seat/" + "0" * 24 + "?lang=de")[1]
