"""The hall's pages: what everybody sees, what organisers do, and what neither may."""

from __future__ import annotations

import io
import json
import re
import sys
from contextlib import closing
from pathlib import Path

import pytest
from browser import MOVING, PHONE, PROJECTOR, expect, not_reached_by_tab, serious

sys.path.insert(0, str(Path(__file__).parent))

from organised import NAMES
from test_director import Hall
from test_people import jpeg

from referee.journal.side_tables import PeopleStore, Presence, TableHeartbeat
from referee.match.commands import OpenReview
from referee.session.people import People
from referee.tournament.standings import standings
from referee.web.hall import views
from referee.web.hall.app import create_hall_app
from referee.web.i18n.texts import translate
from referee.web.server import Server

PAGES = ("/", "/tables", "/tables/T1", "/standings", "/pairings", "/referee", "/people", "/people/P1")


class Shown:
    """A hall in the middle of a tournament, its pages, and a visitor."""

    def __init__(self, folder, pin=None, players=7, tables=2, **options):
        self.hall = Hall(str(folder / "journal.db"), tables=tables)
        self.store = PeopleStore(self.hall.store)
        self.people = People(self.store, self.hall.clock)
        self.presence = self.hall.director._presence = Presence(self.hall.store)
        self.hall.begin(players, **options)
        self.people.meet(NAMES[:players])
        self.app = create_hall_app(self.hall.director, self.people, folder, pin)
        self.client = self.app.test_client()
        self.steps(9)

    def steps(self, n):
        for _ in range(n):
            self.hall.director.step()
            for name in self.hall.names:
                self.hall.step(name)

    def get(self, path, **more):
        return self.client.get(path, **more)

    def post(self, path, **form):
        return self.client.post(path, data=form, content_type="multipart/form-data")

    def close(self):
        self.app.extensions["referee.streams"].close()
        self.store.close()
        self.presence.close()
        self.hall.stack.close()


@pytest.fixture
def shown(tmp_path):
    made = Shown(tmp_path)
    yield made
    made.close()


def test_every_page_is_there_in_both_languages(shown):
    for path in (*PAGES, "/overlay", "/results"):
        for lang in ("en", "de"):
            answer = shown.get(f"{path}?lang={lang}")
            text = answer.get_data(as_text=True)
            assert answer.status_code == 200 and "hall." not in re.sub(r"[\w/]*hall\.(css|js)", "", text), path


def test_the_hall_says_who_is_called_where_and_who_is_next(shown):
    shown.hall.director.step()
    pages = [shown.get(path).get_data(as_text=True) for path in ("/", "/overlay", "/pairings")]
    words = [" ".join(re.sub("<[^>]*>", " ", page).split()) for page in pages]
    for table in ("T1", "T2"):
        called = views.calls(shown.hall.director)["now"][int(table[1]) - 1]
        score = shown.hall.director.table(table).match.scores
        live = " – ".join(f"{name} {score[name]}" for name in called.names)
        assert f"{table} {live}" in words[0] and f"{table} {live}" in words[1]
        assert words[2].count(f"{table} {' – '.join(called.names)}") == 2, "in the list, and on a sheet of its own"


def test_phones_find_the_board_by_its_qr_code(shown):
    assert shown.get("/media/qr.svg").status_code == 404 and "qr.svg" not in shown.get("/").get_data(as_text=True)
    shown.app.extensions["referee.address"] = "http://192.168.1.20:8100/"
    assert shown.get("/media/qr.svg").mimetype == "image/svg+xml"
    assert "qr.svg" in shown.get("/").get_data(as_text=True)


def test_when_all_is_over_the_hall_says_who_has_won_and_calls_nobody(shown):
    while shown.hall.director.state.phase != "finished":
        shown.steps(20)
    first, *others = standings(shown.hall.director.state)
    text = shown.get("/").get_data(as_text=True)
    assert translate("en", "board.winner", name=first.name) in text and translate("en", "hall.no_calls") not in text
    podium = text[text.index("runners") : text.index("</ol>")]
    assert [podium.index(row.name) for row in others[:2]] == sorted(podium.index(row.name) for row in others[:2])
    assert all(f"<li>{row.name}" not in podium for row in others[2:])


def test_tables_show_phase_players_score_and_alarms(shown):
    alarm = {"code": "camera_lost", "text": "camera desk: gone", "since": ""}
    shown.presence.tell("T2", TableHeartbeat(1, "http://t2/", (alarm,)))
    shown.hall.director.step()
    text = shown.get("/tables").get_data(as_text=True)
    match = shown.hall.director.table("T1").match
    assert (
        all(f"{name}" in text for name in match.players)
        and "The camera gives no picture" in text
        and "camera desk" in text
    )
    assert "http://t2/referee" in text
    german = shown.get("/snapshot?page=tables&lang=de").get_json()["parts"]["tables"]
    assert "Die Kamera ist weg" in german or "Kamera" in german


def test_a_tables_board_shows_no_card_before_the_go_and_no_score_under_review(shown):
    director = shown.hall.director
    table = shown.hall.tables["T1"][0]
    while table.state.phase != "ready":
        shown.steps(1)
    director.step()
    assert table.state.card_id not in shown.get("/tables/T1").get_data(as_text=True)
    while table.state.phase != "decided":
        shown.hall.step("T1")
    table._runner.command(OpenReview("Org", "look again"))
    director.step()
    assert translate("en", "board.frozen") in shown.get("/tables/T1").get_data(as_text=True)


def test_pages_are_live(shown):
    first = shown.get("/snapshot?page=hall").get_json()
    shown.steps(60)
    assert shown.get("/snapshot?page=table/T1").status_code == 200
    assert shown.get("/snapshot?page=hall").get_json()["parts"] != first["parts"]


@pytest.mark.parametrize("path", ["/tables/T9", "/snapshot?page=x", "/snapshot?page=table/T9", "/events?page=no"])
def test_what_is_not_there_is_404(shown, path):
    assert shown.get(path).status_code == 404


def test_organisers_enter_dismiss_rename_and_rule(shown):
    assert shown.post("/referee/do", command="Enter", player="Zoe", who="Org", strength="7.5").status_code == 303
    state = shown.hall.director.state
    zoe = [e.name for e in state.entrants].index("Zoe")
    assert state.entrants[zoe].strength == 7.5
    assert shown.post("/referee/do", command="SitOut", player=zoe).status_code == 303
    assert f'<option value="{zoe}">Zoe' in re.search("Return.*", shown.get("/referee").get_data(as_text=True))[0]
    assert shown.post("/referee/do", command="Return", player=zoe).status_code == 303
    assert shown.people.person("Zoe")
    assert shown.post("/referee/do", command="Rename", player=zoe, name="Zoé").status_code == 303
    assert shown.post("/referee/do", command="Leave", player=zoe, why="train").status_code == 303
    assert shown.post("/referee/do", command="Return", player=zoe).status_code == 303
    assert shown.post("/referee/do", command="OpenTable", table="T3").status_code == 303
    assert shown.post("/referee/do", command="CloseTable", table="T3", why="no").status_code == 303
    game = next(g for g in shown.hall.director.state.games if g.phase == "playing")
    won = {"game": game.number, "winner": game.players[0], "why": "no show"}
    assert shown.post("/referee/do", command="RuleGame", **won).status_code == 303
    assert shown.hall.director.state.game(game.number).result.by == "ruling"
    assert shown.post("/referee/do", command="Rerun", game=game.number, why="after all").status_code == 303
    assert shown.post("/referee/auto").status_code == 303 and shown.hall.director.auto is False
    events = shown.hall.director.record.events(shown.hall.director.id)
    assert {e.who for e in events if e.kind in ("entrant_left", "game_waits")} == {"Org"}


@pytest.mark.parametrize(
    "form",
    [
        {"command": "Enter", "player": ""}, {"command": "Enter", "player": "ann"}, {"command": "PairRound"},
        {"command": "Leave", "player": "x", "why": "y"}, {"command": "Leave", "player": "0", "why": ""},
        {"command": "Leave", "player": "999999999999", "why": "y"}, {"command": "OpenTable", "table": "T1"},
        {"command": "Rerun", "game": "-1", "why": "y"}, {"command": "Enter", "player": "<b>" + "x" * 80},
        {"command": "RuleGame", "game": "1", "winner": "77", "why": "y"},
    ],
)  # fmt: skip
def test_a_bad_form_is_refused_in_a_clear_line_and_changes_nothing(shown, form):
    before = shown.hall.director.state
    answer = shown.post("/referee/do", **form)
    fault = re.search(r'class="fault" role="alert">([^<]+)<', answer.get_data(as_text=True))
    assert answer.status_code == 409 and fault and "\n" not in fault[1].strip()
    assert shown.hall.director.state == before


def test_no_such_command_and_one_from_another_site_do_nothing(shown):
    assert shown.post("/referee/do", command="Explode").status_code == 400
    assert shown.post("/people/P1", do="explode").status_code == 400
    assert (
        shown.client.post(
            "/referee/do", data={"command": "PairRound"}, headers={"Origin": "http://elsewhere"}
        ).status_code
        == 403
    )


def test_people_are_renamed_coloured_pictured_merged_and_deleted(shown):
    assert shown.post("/people", name="Twin").status_code == 303
    twin = shown.people.person("Twin").id
    assert shown.post("/people/P1", do="rename", name="Anna").status_code == 303
    assert shown.post("/people/P1", do="color", use="on", color="#aa00bb").status_code == 303
    assert shown.post("/people/P1", do="picture", picture=(io.BytesIO(jpeg()), "me.jpg")).status_code == 303
    assert shown.get("/people/P1/picture.jpg").mimetype == "image/jpeg"
    assert shown.post("/people/P1", do="merge", other=twin).status_code == 303
    page = shown.get("/people/P1").get_data(as_text=True)
    assert "Anna" in page and 'fill="#aa00bb"' in page and "Twin" in page
    assert shown.post("/people/P1", do="picture", picture=(io.BytesIO(b"x"), "me.jpg")).status_code == 409
    assert shown.post("/people/P1", do="delete").status_code == 303
    assert shown.get("/people/P1").status_code == 409 and "Anna" not in shown.get("/people").get_data(as_text=True)


def test_a_visitor_without_the_pin_sees_the_board_and_no_more(tmp_path):
    made = Shown(tmp_path, pin="314159")
    try:
        for path in ("/", "/tables/T1", "/standings", "/export.json", "/export.trf", "/overlay", "/pairings"):
            assert made.get(path).status_code == 200, path
        made.app.extensions["referee.address"] = "http://192.168.1.20:8100/"
        for path in ("/media/qr.svg", "/snapshot?page=overlay", "/snapshot?page=hall"):
            assert made.get(path).status_code == 200, path
        for path in ("/tables", "/referee", "/people", "/people/P1", "/people/P1/picture.jpg", "/snapshot?page=tables"):
            assert made.get(path).status_code == 401, path
        assert made.post("/referee/do", command="PairRound").status_code == 401
        assert made.post("/people/P1", do="delete").status_code == 401
    finally:
        made.close()
    with pytest.raises(ValueError, match="need a PIN"):
        create_hall_app(made.hall.director, made.people, tmp_path, None, "0.0.0.0")


def test_the_export_has_persons_tables_games_and_standings(shown):
    row = json.loads(shown.get("/export.json").get_data())
    assert row["format"] == "referee tournament" and row["tables"] == ["T1", "T2"]
    assert [p["name"] for p in row["entrants"]] == list(NAMES[:7]) and "strength" not in row["entrants"][0]
    assert len(row["games"]) == len(shown.hall.director.state.games) and row["tie_rules"][0] == "match_points"
    assert (
        {p for g in row["games"] for p in g["players"]}
        == {line["player"] for line in row["standings"]}
        == set(range(7))
    )


def test_the_seed_of_the_lots_is_told_when_the_tournament_is_over(shown):
    def told():
        return json.loads(shown.get("/export.json").get_data())["options"]["seed"]

    assert told() is None
    while shown.hall.director.state.phase != "finished":
        shown.steps(9)
    assert told() == "1"


LETTERS = "parseFloat(getComputedStyle(document.querySelector('.lines td')).fontSize)"
FILLED = "document.querySelector('.lines').getBoundingClientRect().bottom / innerHeight"


@pytest.mark.slow
@pytest.mark.parametrize(("players", "letters", "pages"), [(8, 40, ""), (44, 30, "1/3")])
def test_the_board_fills_a_projector_and_turns_pages_where_players_are_many(tmp_path, browser, players, letters, pages):
    made = Shown(tmp_path, players=players)
    made.hall.director.step()
    with closing(Server(made.app, "127.0.0.1", 0)) as server:
        page = browser.new_context(viewport=PROJECTOR, locale="en-GB", reduced_motion="reduce").new_page()
        page.clock.install(time=0)
        page.goto(server.url + "?kiosk")
        assert page.evaluate(LETTERS) >= letters and page.evaluate(FILLED) > 0.95
        expect(page.locator(".lines .page")).to_have_text(pages)
        rows = page.locator(".lines tbody tr:visible")
        assert rows.count() == (players if not pages else 15) and page.locator(".kiosk .top").is_hidden()
        if pages:
            first = rows.first.inner_text()
            page.clock.fast_forward(9_000)
            expect(page.locator(".lines .page")).to_have_text("2/3")
            assert rows.first.inner_text() != first
        page.goto(server.url + "standings")
        page.get_by_label("Find me").fill("éli")
        expect(page.locator("tbody tr:visible").first).to_contain_text("Eli")
        assert {"Eli" in text for text in page.locator("tbody tr:visible").all_inner_texts()} == {True}
        page.goto(server.url)
        expect(page.locator(".lines .me").first).to_contain_text("Eli")
        page.context.close()
    made.close()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["swiss", "groups"])
def test_the_halls_pages_are_accessible_live_and_work_by_keys(tmp_path, browser, form):
    made = Shown(tmp_path, format=form)
    with closing(Server(made.app, "127.0.0.1", 0)) as server:
        for scheme, locale, size in (("light", "en-GB", PROJECTOR), ("dark", "de-DE", PHONE)):
            context = browser.new_context(color_scheme=scheme, locale=locale, viewport=size)
            page = context.new_page()
            for path in PAGES:
                page.goto(server.url.rstrip("/") + path)
                assert serious(page) == [], (path, scheme)
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, size)
            context.close()
        page = browser.new_context(reduced_motion="reduce", locale="en-GB").new_page()
        for path in PAGES if form == "swiss" else ():
            page.goto(server.url.rstrip("/") + path)
            assert (page.evaluate(MOVING), *not_reached_by_tab(page)) == ([], [], set()), path
        page.goto(server.url)
        made.steps(40)
        expect(page.locator("[data-part=head]")).to_contain_text(made.hall.director.state.name)
        page.goto(server.url + "referee")
        page.locator("input[name=player]").first.focus()
        page.keyboard.type("Zoe")
        page.keyboard.press("Enter")
        late = form == "groups"
        expect(page.locator("body")).to_contain_text("too late" if late else "Zoe")
        page.close()
    made.close()
