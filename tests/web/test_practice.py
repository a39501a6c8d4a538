"""The practice page: who may begin, what it shows in each phase, what it says of times, and that nothing is lost."""

from __future__ import annotations

import html
import re

import practising
import pytest
from browser import PHONE
from playwright.sync_api import expect
from practising import Practice

from referee.journal.journal import Journal
from referee.match.commands import DrawCard, Ready
from referee.session.practising import PracticeRunner


@pytest.fixture
def practice(session):
    made = Practice(session)
    yield made
    made.room.stop()
    made.journal.close()


def text_of(client, lang="en") -> str:
    page = client.get(f"/practice?lang={lang}").get_data(as_text=True)
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.partition("<main")[2])))


def csrf(client) -> str:
    return client.get("/api/session").json["csrf"]


def test_the_start_page_leads_to_practice_where_there_is_one(app, practice):
    assert 'href="/practice"' in app.test_client().get("/").get_data(as_text=True)


def test_a_table_without_practice_offers_none(app, session):
    assert 'href="/practice"' not in app.test_client().get("/").get_data(as_text=True)
    assert app.test_client().get("/practice").status_code == 404


def test_names_and_difficulty_begin_a_practice(app, practice):
    client = app.test_client()
    form = {"A": "Ann", "B": "", "level": "3", "csrf_token": csrf(client)}
    assert client.post("/practice/begin", data=form).status_code == 303
    assert practice.room.now.players == {"A": "Ann"} and {v for _, v in practice.room.now.cards} == {3}
    assert "Clear the field" in text_of(client) and "Feld abräumen" in text_of(client, "de")


def test_without_a_name_it_says_who_is_missing_in_both_languages(app, practice):
    client = app.test_client()
    for lang, said in (("en", "one or two players"), ("de", "Einer oder zwei üben")):
        answer = client.post(f"/practice/begin?lang={lang}", data={"A": " ", "csrf_token": csrf(client)})
        assert answer.status_code == 409 and said in answer.get_data(as_text=True)


def test_who_is_not_the_referee_looks_on_and_changes_nothing(locked_app, practice):
    practice.begin("Ann")
    client = locked_app.test_client()
    assert "/practice/begin" not in client.get("/practice").get_data(as_text=True)
    for address in ("/practice/next", "/practice/end", "/practice/give-up/A", "/practice/begin"):
        assert client.post(address).status_code in (400, 401, 403), address
    assert practice.room.now.turn == 0 and practice.room.now.on


def test_the_card_is_hidden_until_the_go(app, practice):
    practice.begin("Ann")
    client, card = app.test_client(), practice.room.now.card[0]
    assert card not in text_of(client) and f"/media/card/{card}." not in client.get("/practice").get_data(as_text=True)
    practice.go()
    assert f"/media/card/{card}." in client.get("/practice").get_data(as_text=True)


def test_every_time_says_how_it_was_measured_and_bests_are_kept_apart(app, practice, session):
    practice.begin("Ann")
    client = app.test_client()
    practice.go()
    practice.built("A", 7.5)
    said = text_of(client)
    assert "7.50 s by camera" in said and "New best!" in said
    assert "7,50 s nach Kamera" in text_of(client, "de")
    for _ in practice.room.now.cards:
        practice.next()
    practice.go()
    practice.pressed("A", 7.9)
    practice.built("A", 7.5)
    said = text_of(client)
    assert "7.90 s by box" in said and re.search(r"7\.50 s\s+7\.90 s", said)


def test_a_fault_is_said_in_words_and_has_no_time(app, practice):
    practice.begin("Ann", "Ben")
    practice.go()
    practice.wrong("A", 5.0)
    practice.built("B", 6.25)
    said = text_of(app.test_client())
    assert "1 blue cube missing" in said and "no time" in said and "6.25 s by camera" in said


def test_practice_waits_for_a_duel_and_a_duel_ends_it(app, practice, session):
    session.create_match(["Ann", "Ben"])
    session.command(DrawCard())
    session.command(Ready())
    client = app.test_client()
    answer = client.post("/practice/begin", data={"A": "Ann", "csrf_token": csrf(client)})
    assert answer.status_code == 409 and not practice.room.now.on


def test_bests_outlive_the_program_and_who_was_broken_off_is_filled_in(app, practice, session):
    practice.begin("Ann")
    practice.go()
    practice.built("A", 7.5)
    practice.next()
    practice.journal.close()
    again = Journal(session.data_dir / "practice.db")
    session.practice = PracticeRunner(session, again)
    assert [r.seconds for r in session.practice.results] == [7.5]
    assert 'value="Ann"' in app.test_client().get("/practice").get_data(as_text=True)
    session.practice.begin({"A": "Ann"}, None, 1)
    assert "7.50 s" in text_of(app.test_client())
    again.close()


@pytest.mark.slow
def test_a_practice_in_a_browser_by_keys(browser, server, practice, pictures):
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    page.goto(f"{server.url}")
    page.get_by_role("link", name="Practise").click()
    page.get_by_label("Name at mat A").fill("Ann")
    page.keyboard.press("Enter")
    expect(page.locator(".stage")).to_contain_text("Clear the field")
    practice.counting()
    expect(page.locator("#countdown")).to_be_visible()
    practice.session.clock.sleep(3.2)
    practice.go()
    expect(page.locator(".target.large")).to_be_visible()
    expect(page.locator("#countdown")).to_be_hidden()
    page.locator("body").press("1")
    expect(page.locator(".stage")).to_contain_text("Checking the build")
    page.locator("body").press("1")
    expect(page.locator(".stage")).to_contain_text("given up before")
    page.locator("body").press("n")
    expect(page.locator(".cardback")).to_be_visible()
    assert practice.room.now.turn == 1
    with page.expect_navigation():  # the page loads itself anew, often later than its live part says so
        page.get_by_role("button", name="Stop practising").click()
    expect(page.locator(".stage")).to_contain_text("Nobody is practising")
    context.close()


@pytest.mark.slow
def test_refused_sound_and_speech_hold_practice_up_nowhere(browser, server, practice, pictures):
    context = browser.new_context(locale="de-DE", viewport=PHONE)
    page = context.new_page()
    page.add_init_script(
        "HTMLMediaElement.prototype.play = () => Promise.reject(new DOMException('no', 'NotAllowedError'));"
        "Object.defineProperty(window, 'speechSynthesis', { value: { cancel() {}, speak() { throw Error('no'); } } });"
    )
    faults = []
    page.on("pageerror", lambda e: faults.append(str(e)))
    page.goto(f"{server.url}practice")
    practice.begin("Ann")
    expect(page.locator(".stage")).to_contain_text("Feld abräumen")
    expect(page.locator(".begin[open]")).to_have_count(0)  # on a phone the card comes first
    assert page.evaluate("document.querySelector('.stage').offsetTop < document.querySelector('.begin').offsetTop")
    practice.go()
    expect(page.locator(".target.large")).to_be_visible()
    practice.built("A", 7.5)
    expect(page.locator(".ended")).to_contain_text("7,50 s nach Kamera")
    assert faults == []
    context.close()


def test_scenes_are_what_their_names_say(session):
    practising.shown(session)
    assert session.practice.now.phase == "shown"
    session.practice.stop()
