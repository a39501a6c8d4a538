"""What is seldom meant is asked before it is done, and what waits can be found: matches, cards, void duels, fields."""

from __future__ import annotations

import pytest
from console_driver import Console
from playwright.sync_api import expect

from referee.match.commands import DrawCard, Go, HumanRuling, NextDuel, Overrule, PressStop, Ready

PAIR = ["Ann", "Ben"]


def send(app, name, **body):
    client = app.test_client()
    csrf = client.get("/api/session").json["csrf"]
    return client.post(f"/api/commands/{name}", json=body, headers={"X-CSRF-Token": csrf})


def won(session, card="L01"):
    """A duel over that card, won by Ann, and on to the next."""
    for command in (DrawCard(card), Ready(), Go(100.0), PressStop("A", 110.0)):
        session.command(command)
    session.see("A", "match")
    session.command(NextDuel())


def draw_by_key(console):
    """Open the dialog on a page that shows all that has happened: one that is drawn anew would close it."""
    console.page.reload()
    console.page.locator("body[data-serial]").wait_for(state="attached")
    console.phase("idle")
    console.page.keyboard.press("h")


def test_a_match_that_is_open_is_left_only_when_that_is_meant(app, session):
    assert send(app, "CreateMatch", players=PAIR).status_code == 200
    first = session.state.match_id
    asked = send(app, "CreateMatch", players=["Cem", "Dia"])
    assert (asked.status_code, asked.json["confirm"]) == (409, "leave_open")
    assert "Ann, Ben is still open" in asked.json["error"] and session.state.match_id == first
    assert send(app, "CreateMatch", players=["Cem", "Dia"], leave_open=True).status_code == 200
    assert session.state.players == ("Cem", "Dia")


def test_a_card_that_was_won_is_asked_about_over_the_api(app, session):
    session.create_match(PAIR)
    won(session)
    assert send(app, "DrawCard", card_id="L01").json["confirm"] == "again"
    assert send(app, "DrawCard", card_id="L01", again=True).status_code == 200


def test_an_unknown_match_is_not_taken_up(app, session):
    answer = send(app, "TakeUpMatch", match_id="nope")
    assert answer.status_code == 409 and "no match 'nope'" in answer.json["error"]


def test_the_console_offers_older_matches_by_their_players(app, session):
    assert 'data-dialog="takeup"' not in app.test_client().get("/referee").text
    session.older_matches = [{"id": "m-1", "at": "2026-01-01T18:00:00", "players": PAIR, "phase": "idle"}]
    page = app.test_client().get("/referee").text
    assert '<option value="m-1">Ann, Ben · 2026-01-01 18:00' in page


def test_the_board_says_which_field_is_not_as_it_should_be(app, session):
    session.create_match(PAIR)
    session.command(DrawCard())
    assert "not empty" not in app.test_client().get("/").text
    session.fields = {"A": "not_empty", "B": "hand"}
    page = app.test_client().get("/").text
    assert "Ann: field A is not empty" in page and "Ben: hands out of field B" in page


def test_the_console_offers_to_play_again_only_what_was_declared_void(app, session):
    session.create_match(PAIR)
    won(session)
    assert 'data-dialog="replayduel" data-fill' not in app.test_client().get("/referee").text
    session.command(Overrule("void", "Ref", "photo", 1))
    assert 'data-dialog="replayduel" data-fill=\'{"number": 1}\'' in app.test_client().get("/referee").text


@pytest.mark.slow
def test_the_same_button_pressed_once_more_says_yes(browser, server, session):
    context = browser.new_context()
    console = Console(context.new_page(), session, server.url, True)
    console.new_match(PAIR)
    won(session)
    draw_by_key(console)
    box = console.page.locator("#dialog-draw")
    box.locator("[name=card_id]").fill("L01")
    box.locator("[type=submit]").click()
    expect(box.locator(".fault")).to_contain_text("has been won by Ann")
    assert session.state.phase == "idle"
    box.locator("[type=submit]").click()
    console.phase("card_drawn")
    assert session.state.card_id == "L01"
    context.close()


@pytest.mark.slow
def test_another_answer_takes_the_yes_back(browser, server, session):
    context = browser.new_context()
    console = Console(context.new_page(), session, server.url, True)
    console.new_match(PAIR)
    won(session, "L01")
    won(session, "L02")
    draw_by_key(console)
    box = console.page.locator("#dialog-draw")
    box.locator("[name=card_id]").fill("L01")
    box.locator("[type=submit]").click()
    expect(box.locator(".fault")).to_contain_text("card L01")
    box.locator("[name=card_id]").fill("L02")
    box.locator("[type=submit]").click()
    expect(box.locator(".fault")).to_contain_text("card L02")
    assert session.state.phase == "idle"
    context.close()


def test_the_board_says_that_no_camera_judges_and_what_is_in_the_way_of_one_that_does(app, session):
    session.create_match(PAIR)
    for command in (DrawCard("L01"), Ready(), Go(100.0), PressStop("A", 110.0)):
        session.command(command)
    board = app.test_client()
    assert "not judging" not in board.get("/").text
    session.alarms = [
        {"code": "camera_lost", "text": "camera 0: unplugged", "since": ""},
        {"code": "blocked", "text": "take the hand out of field A", "since": ""},
    ]
    session.touch()
    shown = board.get("/").text
    assert "The camera is not judging" in shown and "camera 0: unplugged" in shown
    assert "take the hand out of field A" in shown
    assert "The referee decides" in shown and "Checking the build" not in shown
    for cause in ("mats_unseen", "times", "blind", "seeing", "lens", "judging"):
        session.alarms = [{"code": cause, "text": f"because of {cause}", "since": ""}]
        session.touch()
        assert f"because of {cause}" in board.get("/").text
    assert "Go on without the camera" in board.get("/referee").text


def test_who_goes_on_without_a_camera_is_told_so_everywhere_and_can_take_it_back(app, session):
    session.create_match(PAIR)
    session.alarms = [{"code": "camera_lost", "text": "camera 0: unplugged", "since": ""}]
    for command in (DrawCard("L01"), Ready(), Go(100.0), PressStop("A", 110.0)):
        session.command(command)
    web = app.test_client()
    assert send(app, "RuleByHand", on=True).status_code == 200
    session.command(HumanRuling("match", "Eve", "I looked"))
    board, console = web.get("/").text, web.get("/referee?lang=de").text
    assert "not judging" not in board and "Without the camera: humans rule" in board and "(1 by hand)" in board
    assert "Kamera wieder urteilen lassen" in console and "Ohne Kamera weiter" not in console
    assert "by the referee, by hand" in web.get("/results?lang=en").text
