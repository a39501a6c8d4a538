"""How the evening is shown: sides, sound, countdown, pause, results; and what the console offers. No browser."""

from __future__ import annotations

import html
import json
import re
from datetime import datetime

import pytest
from fake_session import FakeSession, StillClock
from scenes import PLAYERS, building, contested, fell, finished, overruled, right, started, undecided, voided, wrong

from cards.sentences import table
from referee.core import seed_hash
from referee.match.commands import DrawCard, HumanRuling, NextDuel, OpenReview, Ready, RenamePlayer, Undo
from referee.match.duel import stop_time
from referee.web import board_views, views
from referee.web.app import create_app
from referee.web.i18n.texts import LANGUAGES, catalogue, translate
from referee.web.pages import console
from referee.web.pages.evening import EveningStore, qr_svg


def english(key: str, /, **values: object) -> str:
    return translate("en", key, **values)


def posted(app, path: str, body: dict):
    """What the referee's page gets for a change."""
    client = app.test_client()
    token = client.get("/api/session").json["csrf"]
    return client.post(path, json=body, headers={"X-CSRF-Token": token})


# --- A human's word -----------------------------------------------------------------------------------


def test_a_human_decision_has_its_own_words_and_strikes_out_the_cameras(app, session):
    overruled(session)
    page = app.test_client().get("/").text
    assert "Referee&#39;s decision" in page and "card to Ben: +3" in page
    assert "Reason: the picture shows it right" in page
    assert '<s class="overturned">' in page and "ruling-mismatch" not in page


def test_a_duel_that_a_human_declared_void_says_so_and_why(app, session):
    voided(session)
    page = app.test_client().get("/").text
    assert "No card for anyone." in page and "Reason: the table was bumped" in page


def test_what_the_camera_decides_is_no_decision_of_a_human(session):
    wrong(session)
    assert views.decision(session.state.to_json()["duel"]) is None


def test_one_time_for_one_stop_and_it_is_the_boxs(session):
    building(session)
    session.press("A")
    duel = session.state.to_json()["duel"]
    duel["presses"] = [duel["presses"][0] | {"elapsed_s": 12.345}]
    assert views.press_s(duel, "A") == 12.345
    assert views.press_s(duel, "B") is None


def verdict_line(app) -> str:
    """What the board says beside the ruling and below it, as plain text."""
    found = re.search(r'<strong class="finding">(.*?)</p>', app.test_client().get("/").text, re.S)
    return " ".join(html.unescape(re.sub("<[^>]+>", "", found[1])).split())


def test_the_board_says_first_that_the_build_fell_and_then_what_is_wrong_with_it(app, session):
    fell(session)
    said = "It fell after Stop, by itself Ben's build · card to Cem: +3 the blue cube stands on the wrong piece"
    assert verdict_line(app).startswith(said)


def test_what_ended_the_duel_is_the_finding_that_is_said_first(app, session):
    building(session)
    session.press("A")
    session.see("A", "match", findings=("false_start", "fell_after_stop"))
    page = app.test_client().get("/").text
    assert (
        verdict_line(app).startswith("It fell after Stop, by itself Ben's build") and page.count("fell after Stop") == 1
    )


def test_a_finding_of_a_build_that_is_right_is_not_held_against_it(app, session):
    session.rules = session.rules.model_copy(update={"hand_at_stop": "ignore"})
    building(session)
    session.press("A")
    session.see("A", "match", findings=("hand_at_stop",))
    assert session.state.award and "in the field at Stop" not in app.test_client().get("/").text


def test_what_the_camera_cannot_tell_the_referee_decides_and_why_is_one_short_sentence(app, session):
    building(session)
    session.press("A")
    session.see("A", "undecided", 0.55, [("two_readings", "the picture fits two builds about equally well: …")])
    assert verdict_line(app) == "The referee decides Ben's build: the picture fits two different builds"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_short_form_of_a_reason_stands_for_a_longer_one_and_fits_on_a_line(language):
    brief = {key[12:]: text for key, text in catalogue(language).items() if key.startswith("board.brief.")}
    long = table(language)
    assert "press_unseen" in brief and {code for code in brief if len(brief[code]) >= min(50, len(long[code]))} == set()


def test_the_ruling_is_stamped_on_the_picture_once_it_stands(app, session):
    def stamp():
        found = re.search(r'<div class="stamp" aria-hidden="true">(.*?)</div>', app.test_client().get("/").text, re.S)
        return found and re.sub("<[^>]+>", "", found[1]).strip()

    undecided(session)
    assert stamp() is None
    session.command(HumanRuling("mismatch", "Eva", "it leans", "A"))
    assert stamp() == "⚑ Cem"
    session.command(OpenReview("Eva", "Ben protests"))
    assert stamp() is None


def test_a_challenge_is_one_press_and_on_record(app, session):
    wrong(session)
    page = app.test_client().get("/referee").text
    pressed = re.search(r"data-do=\"OpenReview\" data-body='(.*?)' data-key=\"challengeA\"", page)
    assert posted(app, "/api/commands/OpenReview", json.loads(pressed[1])).status_code == 200
    opened = session.events[-1]
    assert session.state.under_review and opened.kind == "review_opened"
    assert opened.data["why"] == "a player challenges the verdict"
    assert 'data-key="challengeA"' not in app.test_client().get("/referee").text


# --- The console --------------------------------------------------------------------------------------


def test_an_undo_names_what_it_takes_back(session):
    right(session)
    assert console.undone(session.state.to_json(), english) == "the camera's verdict, card to Cem"
    session.command(NextDuel())
    assert console.undone(session.state.to_json(), english) == "on to the next duel"


def test_there_is_a_word_for_every_command_that_can_be_undone(session):
    from referee.match.evolve import KINDS, NOTE_EVENTS

    kinds = set(KINDS) - set(NOTE_EVENTS) - {"match_created", "undone", "verdict_noted"}
    assert {k for k in kinds if english(f"undo.{k}") == f"undo.{k}"} == set()


def test_only_what_the_phase_allows_is_offered(app, session):
    building(session)
    page = app.test_client().get("/referee").text
    assert 'data-dialog="mode"' not in page
    session.create_match(PLAYERS)
    assert 'data-dialog="mode"' in app.test_client().get("/referee").text


def test_the_wrong_card_alarm_offers_to_play_the_one_that_stands_there(app, session):
    started(session)
    session.command(DrawCard("H03"))
    assert 'data-key="playread"' not in app.test_client().get("/referee").text
    session.alarms = [{"code": "wrong_card", "text": "L47 stands in the holder", "since": ""}]
    assert 'data-key="playread"' in app.test_client().get("/referee").text


def test_the_nearest_readings_have_a_key_and_a_picture_each(app, session):
    contested(session)
    rows = console.readings(session.state.to_json())
    assert [(row["key"], row["ruling"]) for row in rows] == [("3", "match"), ("4", "mismatch")]
    assert app.test_client().get("/media/reading/A/1.svg").text.startswith("<svg")
    assert app.test_client().get("/media/reading/A/2.svg").status_code == 404


def test_the_quick_keys_rule_an_open_duel_and_overrule_an_ended_one(session):
    building(session)
    assert console.quick(session.state.to_json()) == []
    session.press("A")
    assert {q["command"] for q in console.quick(session.state.to_json())} == {"HumanRuling"}
    session.see("A", "match")
    rows = console.quick(session.state.to_json())
    assert [q["body"]["ruling"] for q in rows] == ["match", "mismatch", "void", "award_A", "award_B"]
    assert {q["command"] for q in rows} == {"Overrule"}


def test_what_the_eyes_go_without_stands_on_the_console(app, session):
    started(session)
    assert "/setup#colors" not in app.test_client().get("/referee").text
    session.observer.palette = None
    assert "/setup#colors" in app.test_client().get("/referee").text


def test_a_renamed_player_is_so_everywhere_on_the_board(app, session):
    right(session)
    session.command(RenamePlayer("Cem", "Jem", "Eva"))
    page = app.test_client().get("/").text
    assert "Jem" in page and "Cem" not in page


def test_who_is_not_logged_in_finds_the_field_on_the_console(locked_app):
    page = locked_app.test_client().get("/referee", headers={"Accept": "text/html"}, follow_redirects=True)
    assert 'name="pin"' in page.text and 'name="next" value="/referee"' in page.text


# --- The board ----------------------------------------------------------------------------------------


def test_the_rounds_score_begins_anew_and_the_matchs_goes_on(session):
    building(session)
    match = session.state.to_json()
    assert board_views.round_scores(match) == {"Ben": 6, "Cem": 0}
    session.press("A")
    session.see("A", "match")
    session.command(NextDuel())
    assert board_views.round_scores(session.state.to_json()) == {"Ann": 0, "Ben": 0}


def test_under_review_the_rounds_score_does_not_move(session):
    right(session)
    session.command(OpenReview("Eva", "photo"))
    assert board_views.round_scores(session.state.to_json())["Cem"] == 0


def award(session, name: str, seconds: float = 0.0, later: float | None = None, card: str | None = None) -> list[str]:
    """One more duel, which a right Stop of that player ends, later than every one before where no time is given; the
    other presses so much ``later``. What the board says of it beside the points."""
    if session.state.phase == "decided":
        session.command(NextDuel())
    session.command(DrawCard(card))
    session.command(Ready())
    session.go()
    session.clock.sleep(seconds or 9 + session.state.duel.number)
    zone = next(zone for zone, seated in session.state.seats.items() if seated == name)
    session.press(zone)
    if later is not None:
        session.clock.sleep(later)
        session.press("AB".replace(zone, ""))
    session.see(zone, "match")
    rows = board_views.moments(session.state.to_json())
    return [english(f"moment.{m['what']}", **m, time=stop_time(m["seconds"])) for m in rows]


def test_three_in_a_row_are_told_and_a_change_of_lead_goes_before(session):
    session.create_match(["Ann", "Ben"], seed=4)
    assert [award(session, "Ann") for _ in range(3)] == [[], [], ["Ann: 3 in a row!"]]
    lead, said = {}, {}
    for n in range(3):
        before = {p["name"]: p["score"] for p in session.state.to_json()["players"]}
        said[n] = award(session, "Ben")
        now = {p["name"]: p["score"] for p in session.state.to_json()["players"]}
        lead[n] = before["Ben"] <= before["Ann"] and now["Ben"] > now["Ann"]
    streak = ["Ben: 3 in a row!"]
    assert said == {n: ["Ben takes the lead!"] * lead[n] + streak * (n == 2) for n in range(3)}
    session.command(OpenReview("Eva", "photo"))
    assert board_views.moments(session.state.to_json()) == []


def test_who_passes_the_leader_takes_the_lead(session):
    session.create_match(["Ann", "Ben"], seed=4)
    award(session, "Ann")
    told = [award(session, "Ben") for _ in range(3)]
    assert sum("Ben takes the lead!" in said for said in told) == 1


def test_a_personal_best_is_told_when_it_happens_and_only_then(session):
    session.create_match(["Ann", "Ben"], seed=4)
    times = [(9.0, "Ann"), (8.0, "Ann"), (8.5, "Ann"), (12.0, "Ben"), (7.5, "Ann")]
    told = [f"Personal best for {name}!" in award(session, name, seconds) for seconds, name in times]
    assert told == [False, True, False, False, True]
    assert [row["number"] for row in board_views.best_times(session.state.to_json())] == [5, 2, 3]


def test_while_they_build_each_players_time_to_beat_for_a_card_of_this_value_runs_beside_the_clock(app, session):
    session.clock = StillClock()
    session.create_match(["Ann", "Ben"], seed=4)
    cards = {value: [c.id for c in session.deck.cards if c.value == value] for value in (1, 3)}
    for card, name, seconds in ((cards[3][0], "Ann", 9.0), (cards[1][0], "Ben", 4.0), (cards[3][1], "Ann", 8.0)):
        award(session, name, seconds, card=card)
    session.command(NextDuel())
    session.command(DrawCard(cards[3][2]))
    session.command(Ready())
    assert board_views.pace(session.state.to_json()) == {}
    session.go()
    beaten = board_views.pace(session.state.to_json())
    assert {name: (row["award"], row["number"]) for name, row in beaten.items()} == {
        "Ann": ("Ann", 3),
        "Ben": ("Ann", 3),
    }
    page = app.test_client().get("/").text
    assert (
        "Own best for 3: 8.00 s" in page
        and "Record for 3: 8.00 s <span>(Ann)</span>" in page
        and page.count("<progress data-go=") == 2
    )
    session.clock.sleep(5)
    session.press("A")
    assert board_views.pace(session.state.to_json()) == {}


def test_the_closest_stop_is_the_one_with_the_least_time_between_both_presses(app, session):
    session.clock = StillClock()
    session.create_match(["Ann", "Ben"], seed=4)
    assert board_views.closest_stop(session.state.to_json()) is None
    told = [award(session, "Ann", later=later) for later in (1.4, None, 0.3, 0.7, 0.1)]
    assert [any("Closest" in line for line in said) for said in told] == [False, False, True, False, True]
    close = board_views.closest_stop(session.state.to_json())
    assert (close["first"], close["second"], close["number"]) == ("Ann", "Ben", 5)
    assert close["seconds"] == pytest.approx(0.1)
    session.command(NextDuel())
    assert "<h2>Closest Stop</h2>" in app.test_client().get("/").text
    assert "Closest Stop:" in app.test_client().get("/results").text


def test_what_is_heard_comes_once_and_after_a_correction_only_what_it_changed(session):
    wrong(session)
    match = session.state.to_json()
    first = board_views.announcement(match, views.decision(match["duel"]), english)
    assert (first["sound"], first["say"]) == ("wrong", "Wrong. Card to Cem, 3 points.")
    assert board_views.announcement(match, None, english)["key"] == first["key"]
    overruled(session)
    match = session.state.to_json()
    then = board_views.announcement(match, views.decision(match["duel"]), english)
    assert then["key"] != first["key"] and then["say"] == "Referee's decision: Card to Ben, 3 points."


def test_next_comes_the_same_pair_then_the_next_and_after_the_last_nobody(session):
    session.create_match(["Ann", "Ben"])
    coming = board_views.up_next(session.state.to_json())
    assert (coming["a"], coming["b"]) == ("Ann", "Ben")
    finished(session)
    assert board_views.up_next(session.state.to_json()) is None


def test_the_end_shows_podium_best_times_and_every_duel(app, session):
    finished(session)
    match = session.state.to_json()
    at = datetime.fromisoformat(match["created_at"]).astimezone()
    for language, day in (("en", f"Match of {at:%Y-%m-%d}"), ("de", f"Spiel vom {at:%d.%m.%Y}")):
        assert day in app.test_client().get("/results", headers={"Accept-Language": language}).text
    assert [(row["rank"], row["player"]) for row in board_views.podium(match)] == [(1, "Ben"), (2, "Ann")]
    assert len(board_views.best_times(match)) == board_views.BEST
    assert len(board_views.ended_duels(match)) == 6
    assert app.test_client().get("/").text.count('class="rank-') == 2


@pytest.mark.parametrize("n, words", [(1, "1 point"), (0, "0 points"), (2, "2 points")])
def test_one_point_is_no_points(n, words):
    assert board_views.plural_text(english, "points", n) == words


# --- Sides, sound, pause ------------------------------------------------------------------------------


def test_what_is_set_holds_after_a_restart_and_a_broken_file_is_as_none(tmp_path):
    EveningStore(tmp_path).change({"swapped": True, "volume": 30})
    assert EveningStore(tmp_path).now.swapped and EveningStore(tmp_path).now.volume == 30
    (tmp_path / "evening.json").write_text('{"swapped": tr')
    assert not EveningStore(tmp_path).now.swapped


@pytest.mark.parametrize("wrong", [{"volume": 101}, {"swapped": "yes"}, {"loud": True}, {"back": "soon"}])
def test_a_value_that_is_none_is_refused_and_changes_nothing(app, wrong):
    assert posted(app, "/evening", wrong).status_code == 409
    assert app.extensions["referee.evening"].now.volume == 80


def test_the_board_pauses_between_duels_and_not_in_one(app, session):
    started(session)
    assert posted(app, "/evening", {"paused": True, "pause": "Pizza", "back": "20:15"}).status_code == 200
    page = app.test_client().get("/").text
    assert "Pizza" in page and "back at 20:15" in page
    session.command(DrawCard())
    assert "Pizza" not in app.test_client().get("/").text


def test_the_countdown_is_on_every_board_and_is_refused_out_of_turn(app, session):
    started(session)
    posted(app, "/evening", {"countdown": 3})
    assert posted(app, "/evening/count", {}).status_code == 409
    session.command(DrawCard())
    session.command(Ready())
    assert posted(app, "/evening/count", {}).json == {"seconds": 3}
    told = app.test_client().get("/").text.partition("data-evening='")[2].partition("'")[0]
    assert json.loads(told)["go_at"] == pytest.approx(session.clock.now_s() + 3, abs=2)


def test_only_the_referee_changes_the_evening(locked_app):
    client = locked_app.test_client()
    token = client.get("/api/session").json["csrf"]
    assert client.post("/evening", json={"sound": False}, headers={"X-CSRF-Token": token}).status_code == 401


def test_a_qr_code_is_offered_only_where_phones_find_the_board(app):
    client = app.test_client()
    assert client.get("/media/qr.svg").status_code == 404
    assert qr_svg("http://192.168.1.20:8000/").count("h1v1h-1z") > 200


# --- Results ------------------------------------------------------------------------------------------


def test_the_results_have_every_duel_with_its_time(app, session):
    finished(session)
    client = app.test_client()
    page, table = client.get("/results").text, client.get("/results.csv")
    assert page.count(" s</td>") == 6 and "★ Ben wins!" in page
    lines = table.text.splitlines()
    assert (
        lines[0].endswith(",seconds,stop_by")
        and len(lines) == 7
        and "attachment" in table.headers["Content-Disposition"]
    )


def test_the_results_promise_the_seed_by_its_hash_and_tell_it_when_all_is_over(app, session):
    client = app.test_client()
    session.create_match(["Ann", "Ben"], seed=2**127 + 1)
    promise, seed = seed_hash(2**127 + 1), str(2**127 + 1)
    paths = ("/results", "/api/state", "/results.csv", "/")
    before = [client.get(path).text for path in paths]
    assert promise in before[0] and promise in before[1] and not any(seed in text for text in before)
    finished(session)
    promise, seed = seed_hash(session.state.seed), str(session.state.seed)
    for path in paths[:2]:
        assert promise in client.get(path).text and seed in client.get(path).text


def test_before_a_match_there_are_no_results(app):
    assert app.test_client().get("/results.csv").status_code == 404
    assert "No match has been played yet" in app.test_client().get("/results").text


def test_the_streaming_picture_says_who_how_much_and_the_decision(app, session):
    overruled(session)
    page = app.test_client().get("/overlay").text
    assert "Ben" in page and "0:1" in page and "Referee&#39;s decision" in page


def test_a_taken_back_verdict_asks_the_human(app):
    session = FakeSession()
    right(session)
    session.command(Undo("Eva"))
    page = create_app(session).test_client().get("/referee").text
    assert "the camera&#39;s verdict was taken back" in page and 'data-key="quickmatch"' in page


def test_the_qr_code_shows_the_address_that_the_program_was_told(locked_app):
    locked_app.extensions["referee.address"] = "http://10.0.0.7:8000/"
    client = locked_app.test_client()
    assert "http://10.0.0.7:8000/" in client.get("/", base_url="http://127.0.0.1:8000").get_data(as_text=True)
    code = client.get("/media/qr.svg", base_url="http://127.0.0.1:8000")
    assert code.status_code == 200 and code.mimetype == "image/svg+xml"
