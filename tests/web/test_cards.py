"""The cards pages: what rests where, what is refused, what is kept; and the editor in a real browser."""

from __future__ import annotations

import json

import pytest
from console_driver import Console
from playwright.sync_api import expect
from real_table import real_table

from cards.check import check_card
from cards.deck import load_deck
from cards.drawing import card_png
from cards.kinds.layout import LayoutCard
from cards.pieces import load_piece_set
from referee.match.house_rules import DEFAULT_RULES
from referee.web.app import create_app
from referee.web.pages.cards import KINDS, form_rows, set_of_form
from referee.web.server import Server

CUBE = {"shape": "cube", "color": "blue", "rotation": 0, "facing": "front", "x": 0, "z": 15}
ROOF = {"shape": "triangle", "color": "red", "rotation": 0, "facing": "front", "x": 2, "z": 120}
PLANK = {"shape": "rectangle", "color": "green", "rotation": 0, "facing": "front", "x": 30, "z": 120}


class Client:
    def __init__(self, session):
        self.web = create_app(session).test_client()
        self.token = self.web.get("/api/session").json["csrf"]

    def post(self, path, **asked):
        return self.web.post(f"/cards/{path}", json=asked, headers={"X-CSRF-Token": self.token})


@pytest.fixture
def client(session):
    return Client(session)


def test_pieces_drop_and_rest(client):
    answer = client.post("look", pieces=[CUBE, ROOF]).json
    assert [p["z"] for p in answer["pieces"]] == [15, 47.5]
    assert answer["faults"] == [] and answer["value"] == 1 and answer["tilt_deg"] > 10


def test_what_falls_is_said_while_dragging_and_what_a_misplacement_topples_at_rest(client):
    assert "it falls" in client.post("look", pieces=[CUBE, PLANK]).json["faults"]
    close = [CUBE, {**PLANK, "x": 13}]
    assert client.post("look", pieces=close, thorough=False).json["faults"] == []
    thorough = client.post("look", pieces=close, thorough=True).json
    assert thorough["weakest"] and "2 mm off" in thorough["faults"][0]


def test_more_than_the_set_holds_is_said(client):
    cubes = [{**CUBE, "x": x} for x in (-40, 0, 40)]
    assert "asks for 3 blue cubes, the set has 2" in client.post("look", pieces=cubes).json["faults"]


@pytest.mark.parametrize(
    "asked",
    [
        {"pieces": []},
        {"pieces": "cube"},
        {"pieces": [{"shape": "cube"}]},
        {"pieces": [{**CUBE, "shape": "ball"}]},
        {"pieces": [{**CUBE, "x": 1e9}]},
        {"pieces": [CUBE] * 21},
        {},
    ],
)
def test_nonsense_is_a_clear_400(client, asked):
    answer = client.post("look", **asked)
    assert answer.status_code == 400 and answer.json["error"]


def test_a_card_is_kept_checked_and_printed(client, session):
    saved = client.post("save", deck="mine", id="N01", value=1, pieces=[CUBE, ROOF])
    assert saved.json == {"deck": "mine", "cards": ["N01"]}
    deck = load_deck(session.data_dir / "decks" / "mine.json", session.piece_set)
    assert check_card(deck.card("N01"), session.piece_set).faults == ()
    assert client.web.get("/cards/deck/mine/check.json").json[0]["faults"] == []
    assert client.web.get("/cards/deck/mine/cards.pdf?paper=letter").data.startswith(b"%PDF")
    assert client.web.get("/cards/deck/mine/N01.svg").data.startswith(b"<svg")
    assert client.web.get("/cards/deck/mine.json").json["cards"][0]["id"] == "N01"
    client.post("save", deck="mine", id="N01", value=1, pieces=[CUBE], replace=True)
    assert len(load_deck(session.data_dir / "decks" / "mine.json").card("N01").pieces) == 1


def test_saving_over_another_card_asks(client, session):
    client.post("save", deck="mine", id="N01", value=1, pieces=[CUBE, ROOF])
    answer = client.post("save", deck="mine", id="N01", value=1, pieces=[CUBE])
    assert answer.status_code == 409 and answer.json == {"error": "card N01 is in deck mine already", "replaces": True}
    assert len(load_deck(session.data_dir / "decks" / "mine.json").card("N01").pieces) == 2


def test_a_card_of_another_kind_is_never_replaced(client, session):
    (session.data_dir / "decks").mkdir(parents=True)
    row = {"id": "H01", "kind": "height", "value": 1, "count": 3}
    path = session.data_dir / "decks" / "mine.json"
    path.write_text(json.dumps({"name": "mine", "first_marker": 90, "cards": [row]}))
    answer = client.post("save", deck="mine", id="H01", value=1, pieces=[CUBE], replace=True)
    assert answer.status_code == 400 and "give another id" in answer.json["error"]
    assert load_deck(path).card("H01").kind == "height"
    assert client.post("save", deck="mine", id="N01", value=1, pieces=[CUBE]).status_code == 200
    assert load_deck(path).marker("N01") == 91, "a deck keeps its markers"


def test_the_programs_own_deck_is_not_shadowed(client, session):
    answer = client.post("save", deck="challenge80", id="N01", value=1, pieces=[CUBE])
    assert answer.status_code == 400 and "ships with the program" in answer.json["error"]
    assert not (session.data_dir / "decks").exists()


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"kind": "shapes", "shapes": {"triangle": 2}}, "no structure was found"),
        ({"kind": "height", "count": 3, "max_ground_contacts": 9}, "it lets 9 pieces touch the table"),
    ],
)
def test_what_the_check_refuses_is_not_played(client, session, row, words):
    (session.data_dir / "decks").mkdir(parents=True)
    deck = {"name": "mine", "cards": [{"id": "X01", "value": 1, **row}]}
    (session.data_dir / "decks" / "mine.json").write_text(json.dumps(deck))
    answer = client.post("play", deck="mine")
    assert answer.status_code == 400 and words in answer.json["error"]
    assert session.deck.name != "mine"


def test_a_card_that_falls_is_not_kept(client, session):
    answer = client.post("save", deck="mine", id="N01", value=1, pieces=[CUBE, PLANK])
    assert answer.status_code == 400 and "it falls" in answer.json["error"]
    assert not (session.data_dir / "decks").exists()


@pytest.mark.parametrize("name", ["../evil", "a/b", "", "x" * 41, ".hidden", "a.b"])
def test_names_stay_in_the_folder(client, name):
    answer = client.post("save", deck=name, id="N01", value=1, pieces=[CUBE])
    assert answer.status_code == 400 and "name" in answer.json["error"]


def test_a_kept_deck_is_played_in_the_next_match(client, session):
    client.post("save", deck="mine", id="N01", value=1, pieces=[CUBE, ROOF])
    assert client.post("play", deck="mine").json == {"deck": "mine", "cards": 1}
    assert session.deck.name == "mine"
    assert client.post("play", deck="nosuch").status_code == 400


def test_a_proposal_stands(client, session):
    pieces = client.post("propose", value=1, seed=3).json["pieces"]
    assert client.post("look", pieces=pieces, thorough=True).json["faults"] == []
    assert client.post("propose", value=9, seed=3).status_code == 400


def test_a_measured_piece_set_is_kept_as_a_file(client, session):
    rows = form_rows(session.piece_set)
    form = {"csrf_token": client.token, "name": "ours"}
    for k, s in enumerate(rows["shapes"]):
        form |= {f"shape-{k}": s["name"], f"kind-{k}": s["kind"]}
        form |= {f"{n}-{k}": s[n] for n in ("width", "height", "depth", "opening")}
    form |= {f"color-{k}": c for k, (c, _) in enumerate(rows["colors"])}
    form |= {f"paint-{k}": p for k, (_, p) in enumerate(rows["colors"])}
    for k, (shape, color, count) in enumerate(rows["pieces"]):
        form |= {f"of-{k}": shape, f"in-{k}": color, f"count-{k}": str(count)}
    assert set_of_form(form)["shapes"].keys() == session.piece_set.shapes.keys()
    form["width-0"] = "29,5"
    answer = client.web.post("/cards/pieces", data=form)
    assert answer.status_code == 200 and "ours" in answer.text
    kept = load_piece_set(session.data_dir / "piece_sets" / "ours.json")
    assert next(iter(kept.shapes.values())).width == 29.5 and kept.inventory == session.piece_set.inventory
    form["width-0"] = "wide"
    assert client.web.post("/cards/pieces", data=form).status_code == 400


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_a_picture_with_its_lengths(client, kind):
    svg = client.web.get(f"/cards/kind/{kind}.svg").text
    assert "width" in svg and "height" in svg and ("opening" in svg) == (kind in ("bridge", "crescent"))
    assert client.web.get("/cards/kind/ball.svg").status_code == 404


def test_viewers_may_not_look_in(session):
    viewer = create_app(session, pin="4711-blue-tongs", host="0.0.0.0").test_client()
    assert viewer.get("/cards").status_code in (302, 303, 401, 403)


def drag(page, start, end, steps=6):
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=steps)
    page.mouse.up()


def on_stage(page, x, z):
    """Page coordinates of a place in the elevation, mm."""
    return page.evaluate(
        """([x, z]) => { const m = document.getElementById('stage').getScreenCTM();
        const p = new DOMPoint(x, 252 - z).matrixTransform(m); return [p.x, p.y]; }""",
        [x, z],
    )


@pytest.fixture
def watched(browser):
    """A page whose scripts' faults fail the test."""
    page = browser.new_page(viewport={"width": 1500, "height": 1100})
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
    yield page
    page.close()
    assert [p for p in problems if "ERR_INCOMPLETE_CHUNKED" not in p] == []


def open_editor(page, url):
    """The editor, ready to be used."""
    page.goto(f"{url}cards")
    page.wait_for_selector("body[data-ready]")


def put(page, name, x, z):
    """A piece of the palette dragged to a place of the elevation, in mm."""
    box = page.get_by_role("button", name=name).bounding_box()
    drag(page, (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2), on_stage(page, x, z))


@pytest.mark.slow
def test_a_card_is_made_saved_checked_and_printed_in_a_browser(server, watched, session):
    page = watched
    open_editor(page, server.url)
    put(page, "orange bridge", 0, 60)
    expect(page.locator("#verdict.right")).to_be_visible()
    put(page, "red triangle", 60, 120)  # beside the bridge: it drops to the table
    expect(page.locator("#pieces .piece")).to_have_count(2)
    put(page, "green rectangle", 40, 200)  # across bridge and point: falls
    expect(page.locator("#verdict.wrong")).to_be_visible()
    page.keyboard.press("Tab")
    page.click("#remove")
    expect(page.locator("#verdict.right")).to_be_visible()
    drag(page, on_stage(page, 60, 12), on_stage(page, 2, 150))  # the triangle onto the bridge
    expect(page.locator("#pieces .piece").nth(1)).to_have_attribute("transform", "translate(2 204.5)")
    expect(page.locator("#suggested")).to_have_text("1")
    page.fill("#save [name=deck]", "browser")
    page.fill("#save [name=id]", "B01")
    page.click("#keep")
    page.wait_for_selector("#faces [data-id=B01]")
    card = load_deck(session.data_dir / "decks" / "browser.json", session.piece_set).card("B01")
    assert isinstance(card, LayoutCard)
    assert [(p.shape, p.z) for p in card.pieces] == [("bridge", 15.0), ("triangle", 47.5)]
    assert check_card(card, session.piece_set).faults == ()

    page.click("#check")
    expect(page.locator("#said")).to_contain_text(": 1")
    with page.expect_download() as download:
        page.click("[data-paper=a4]")
    assert download.value.suggested_filename == "browser.pdf"
    page.click("#play")
    expect(page.locator("#said")).to_contain_text("uses: browser")
    assert session.deck.name == "browser" and json.dumps(session.deck.to_json())


def save_gate(page):
    """A card of one's own: a triangle on a bridge."""
    put(page, "orange bridge", 0, 60)
    put(page, "red triangle", 2, 150)
    expect(page.locator("#verdict.right")).to_be_visible()
    page.fill("#save [name=deck]", "ours")
    page.fill("#save [name=id]", "B01")
    page.click("#keep")
    page.wait_for_selector("#faces [data-id=B01]")
    page.click("#play")
    expect(page.locator("#said")).to_contain_text("uses: ours")


@pytest.mark.slow
def test_a_card_of_one_s_own_is_played_at_the_table_up_to_the_verdict(tmp_path, watched):
    with real_table(tmp_path, rules=DEFAULT_RULES) as at:
        session = at.session
        at.rig.set_up(at.eyes)
        server = Server(create_app(session), "127.0.0.1", 0)
        try:
            open_editor(watched, server.url)
            save_gate(watched)
            console = Console(watched, session, server.url, keys=True)
            console.new_match(["Ann", "Ben"])
            with at.rig.played(session, None, True):
                console.step("card_drawn")
                console.step("ready")
                console.go()
                console.until(lambda: session.state.phase in ("decided", "undecided"), 60)
            duel = session.state.duel
            assert duel.card_id == "B01" and set(duel.verdicts) == set(duel.callers)
            said = duel.verdicts[duel.callers[0]]
            assert said.ruling in ("match", "undecided")
            assert sorted(p["shape"] for p in said.row["pieces"]) == ["bridge", "triangle"]
            watched.locator(f".act .phase-{session.state.phase}").wait_for()
            expect(watched.locator(".reading .ruling")).to_be_visible()
            expect(watched.locator(".evidence img").first).to_be_visible()
        finally:
            watched.goto("about:blank")  # else it asks a server that closes for more
            server.close()


@pytest.mark.slow
def test_another_card_in_the_holder_is_an_alarm_until_the_right_one_stands_there(tmp_path, browser):
    with real_table(tmp_path, rules=DEFAULT_RULES) as at:
        session = at.session
        server = Server(create_app(session), "127.0.0.1", 0)
        page = browser.new_page()
        try:
            console = Console(page, session, server.url, keys=True)
            session.create_match(["Ann", "Ben"])
            console.draw(session.deck.cards[3].id)
            console.step("ready")
            alarm = page.locator(".alarm", has_text="Another card stands in the holder")
            for card, wrong in ((session.deck.cards[7], True), (session.deck.cards[3], False)):
                at.rig.players.show(card_png(card, session.deck, session.piece_set, 440))
                alarm.wait_for(state="visible" if wrong else "hidden", timeout=30_000)
                console.until(lambda card=card: session.snapshot()["live"]["card_read"] == card.id)
                expect(page.locator(".status", has_text=card.id)).to_be_visible(timeout=30_000)
        finally:
            page.close()
            server.close()


@pytest.mark.slow
def test_a_measured_set_is_entered_beside_pictures_of_its_lengths(server, watched, session):
    watched.goto(f"{server.url}cards/pieces")
    pictures = watched.locator(".cards-kinds img")
    assert pictures.count() == len(KINDS)
    for n in range(len(KINDS)):
        assert pictures.nth(n).evaluate("i => i.decode().then(() => i.naturalWidth)") > 40
    watched.locator("form [name=name]").fill("measured")
    watched.locator("[name=width-1]").fill("29,7")
    watched.locator("form button.primary").click()
    expect(watched.get_by_role("status")).to_contain_text("measured")
    kept = load_piece_set(session.data_dir / "piece_sets" / "measured.json")
    assert next(iter(kept.shapes.values())).width == 29.7
