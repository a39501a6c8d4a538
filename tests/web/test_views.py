"""What pages show of a match: nothing hidden to the public, the nearest readings first to the referee."""

from __future__ import annotations

import html
import re

import pytest
from scenes import PLAYERS, building, review, right, undecided, wrong

from referee.match import state
from referee.match.cause import cause_of
from referee.match.commands import (
    CameraVerdict,
    CloseReview,
    DrawCard,
    Foul,
    FoulRuling,
    Go,
    HumanRuling,
    Overrule,
    PressStop,
    Ready,
    Undo,
)
from referee.match.foul import FoulProposal, foul_sentence
from referee.match.house_rules import HouseRules
from referee.match.verdict import zone_verdict
from referee.web.i18n.texts import translate
from referee.web.pages import board, console
from referee.web.views import opposite_ruling, why


def shown(page, session, app, lang: str = "en") -> str:
    """All parts of the page as one text."""
    return "\n".join(page.PAGE.render(session, app.jinja_env, lang).values())


def test_before_a_match_the_board_welcomes(app, session):
    assert translate("en", "board.nomatch") in shown(board, session, app)


def test_the_public_does_not_see_the_card_before_the_go_and_the_referee_sees_its_number_only(app, session):
    session.create_match(PLAYERS)
    session.command(DrawCard())
    card = session.state.card_id
    assert card not in shown(board, session, app)
    assert card in shown(console, session, app)
    assert f"/media/card/{card}" not in shown(console, session, app)


@pytest.mark.parametrize("mode", ["experts", "all"])
def test_what_a_hidden_card_is_worth_is_shown_where_its_pile_tells(app, session, mode):
    session.create_match(PLAYERS, mode)
    told = [shown(board, session, app)]
    session.command(DrawCard())
    session.command(Ready())
    told.append(shown(board, session, app))
    assert ['Value <span class="value">2</span>' in text for text in told] == [mode == "experts"] * 2


@pytest.mark.parametrize("phase", ["card_drawn", "ready"])
def test_the_api_hides_the_card_too(app, session, phase):
    session.create_match(PLAYERS)
    session.command(DrawCard())
    if phase == "ready":
        session.command(Ready())
    card = session.state.card_id
    answer = app.test_client().get("/api/state")
    assert answer.json["match"]["phase"] == phase
    assert answer.json["match"]["card_id"] is None and card not in answer.text


def test_the_clock_runs_from_the_go_and_stops_at_the_press(app, session):
    building(session)
    go_s = session.state.duel.go_at_s
    assert f'data-clock data-go="{go_s}"' in shown(board, session, app)
    session.press("A")
    pressed_s = session.state.duel.presses[-1].at_s - go_s
    assert f"<time>0:{pressed_s:05.2f}</time>" in shown(board, session, app)


def test_a_right_build_and_a_wrong_one_are_told_apart_by_word_and_sign(app, session):
    right(session)
    text = shown(board, session, app)
    assert "✓" in text and "Right" in text and "✗" not in text


def test_the_board_names_the_faults_in_the_visitors_language(app, session):
    wrong(session)
    assert "1 blue cube missing" in shown(board, session, app)
    assert "Es fehlt: 1 × Würfel, blau" in shown(board, session, app, "de")


def test_every_colour_of_the_card_is_also_a_word(app, session):
    building(session)
    text = shown(board, session, app)
    card = session.deck.by_id[session.state.card_id]
    assert all(f"{piece.color} {piece.shape}" in text for piece in card.pieces)
    svg = app.test_client().get(f"/media/card/{card.id}.de.svg").text
    words = {translate("de", f"color.{piece.color}") for piece in card.pieces}
    assert words == set(re.findall(r">([^<>]+)</text>", svg))


def test_under_review_the_public_score_stays_and_says_so(app, session):
    review(session)
    frozen = dict(session.state.public_scores)
    session.command(Overrule("award_A", "Eva", "seen on the picture", session.state.history[-1].number))
    session.command(Undo("Eva"))
    state = app.test_client().get("/api/state").json["match"]
    assert state["under_review"] and state["scores"] == frozen
    assert {row["player"]: row["score"] for row in state["standings"]} == frozen
    assert "under review" in shown(board, session, app)
    session.command(CloseReview("Eva"))
    assert "under review" not in shown(board, session, app)


def test_standings_under_review_are_ranked_by_what_is_shown():
    rows = [
        {"player": name, "score": score, "duels": 2, "rank": rank}
        for name, score, rank in (("Ann", 5, 1), ("Ben", 3, 2), ("Cem", 9, None))
    ]
    found = state._ranked({"standings": rows}, {"Ann": 1, "Ben": 3, "Cem": 9})
    assert [(r["player"], r["rank"]) for r in found] == [("Ben", 1), ("Ann", 2), ("Cem", None)]


def test_an_undecided_verdict_offers_the_nearest_readings_first(app, session):
    building(session)
    session.press("A")
    fault = {"code": "wrong_place", "text": "18 mm off"}
    other = {"verdict": "mismatch", "confidence": 0.44, "reasons": [fault]}
    seen = {"verdict": "undecided", "confidence": 0.56, "leaning": "match", "reasons": [], "alternatives": [other]}
    session.command(CameraVerdict("A", zone_verdict(seen)))
    text = shown(console, session, app)
    assert text.index("ruleAmatch") < text.index("ruleAmismatch") < text.index("reading3")
    assert "it thinks: Right" in text and "18 mm off" in text


def test_where_the_camera_only_proposes_its_verdict_is_offered_first(app, session):
    session.create_match(PLAYERS, rules=HouseRules(camera_decides="proposes"))
    for command in (DrawCard(), Ready(), Go(session.clock.now_s())):
        session.command(command)
    session.clock.sleep(5)
    session.press("A")
    session.see("A", "mismatch", 0.95)
    text = shown(console, session, app)
    assert session.state.phase == "undecided"
    assert text.index("ruleAmismatch") < text.index("ruleAmatch")


def test_a_verdicts_picture_is_shown_once_it_is_drawn(app, session, monkeypatch):
    undecided(session)
    drawn = session.picture
    monkeypatch.setattr(session, "picture", lambda name: None)
    assert "/media/overlay/" not in shown(board, session, app)
    monkeypatch.setattr(session, "picture", drawn)
    assert "/media/overlay/" in shown(board, session, app)


def test_the_console_offers_only_what_the_phase_allows(app, session):
    session.create_match(PLAYERS)
    text = shown(console, session, app)
    assert 'data-do="DrawCard"' in text and 'data-do="Go"' not in text and 'data-dialog="void"' not in text


@pytest.mark.parametrize(
    "lang, said, big",
    [
        ("en", "wrong build, hand in the field at Stop", "A hand was in the field at Stop"),
        ("de", "falsch gebaut, Hand im Feld beim Stopp", "Beim Stopp war eine Hand im Feld"),
    ],
)
def test_why_a_duel_ended_so_is_said_in_words(app, session, lang, said, big):
    building(session)
    session.press("A")
    session.command(CameraVerdict("A", zone_verdict({"verdict": "match"}), ("hand_at_stop",)))
    assert session.state.duel.reason == "false_stop: hand_at_stop"
    client = app.test_client()
    assert said in client.get(f"/referee?lang={lang}").text
    assert big in client.get(f"/?lang={lang}").text


@pytest.mark.parametrize(
    "lang, said",
    [
        ("en", "a foul by whoever would get the card is still open: rule on it first"),
        ("de", "ein Foul dessen, der die Karte bekäme, ist noch offen: zuerst darüber entscheiden"),
    ],
)
def test_a_card_that_waits_for_a_finding_says_so_beside_the_keys_for_both(app, session, lang, said):
    building(session)
    session.command(Foul(session.state.seats["A"], "a hand", "Eva"))
    session.press("A")
    session.command(CameraVerdict("A", zone_verdict({"verdict": "match"})))
    page = html.unescape(app.test_client().get(f"/referee?lang={lang}").text)
    assert said in page and 'data-key="foul0"' in page and 'data-key="quickaward_A"' in page


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "The referee decides about a foul first"), ("de", "Zuerst entscheidet die Spielleitung")]
)
def test_the_board_says_that_a_right_build_waits_for_the_referee(app, session, lang, said):
    building(session)
    session.command(Foul(session.state.seats["A"], "a hand", "Eva"))
    session.press("A")
    session.command(CameraVerdict("A", zone_verdict({"verdict": "match"})))
    assert said in html.unescape(app.test_client().get(f"/?lang={lang}").text)
    session.command(FoulRuling(0, "none", "Eva"))
    assert said not in html.unescape(app.test_client().get(f"/?lang={lang}").text)


@pytest.mark.parametrize(
    "reason, said",
    [
        ("right", "right build"),
        ("foul: touched <b>", "foul: touched <b>"),
        ("foul", "foul: he leaned on it"),
        ("false_stop: hand_at_stop", "wrong build, hand in the field at Stop"),
        ("measured it", "measured it"),
        ("human: twice", "human: twice"),
        ("both_right", "both pressed, both right"),
        ("timeout", "time was up"),
        ("", ""),
    ],
)
def test_reasons_of_every_kind_have_words(reason, said):
    cause = cause_of(reason, why="he leaned on it").to_json()
    assert why({"cause": cause}, lambda key, **blanks: translate("en", key, **blanks)) == said


@pytest.mark.parametrize("sanction", ["void", "duel"])
def test_what_a_device_said_of_a_foul_is_said_in_the_readers_language(app, session, sanction):
    building(session)
    seen = FoulProposal("second_hand", "A", 3.2, 0.9, "A")
    session.command(Foul(session.state.seats["A"], foul_sentence("second_hand", "A"), "camera", seen=seen))

    def page(path: str, lang: str) -> str:
        return html.unescape(app.test_client().get(f"{path}?lang={lang}").text)

    assert "eine zweite Hand in Feld A, 3,2 s nach dem Start" in page("/referee", "de")
    session.command(FoulRuling(0, sanction, "Eva"))
    assert translate("en", "board.looking") not in page("/", "en")  # nobody pressed: there is no build to check
    for path in ("/", "/referee", "/results"):
        german, english = page(path, "de"), page(path, "en")
        assert "eine zweite Hand in Feld A" in german and "a second hand in field A" not in german
        assert "a second hand in field A" in english


def test_a_dead_heat_is_ruled_build_by_build(app, session):
    building(session)
    at_s = session.clock.now_s()
    for zone in "AB":
        session.command(PressStop(zone, at_s, 0.001))
    for zone in "AB":
        session.see(zone, "undecided", 0.6)
    page = app.test_client().get("/referee").text
    assert 'data-zones=\'[["A", "Ben"], ["B", "Cem"]]\'' in html.unescape(page)
    session.command(HumanRuling("match", "Eva", "seen", zone="A"))
    assert 'id="open-zones"' not in app.test_client().get("/referee").text
    session.command(HumanRuling("mismatch", "Eva", "seen", zone="B"))
    assert session.state.award[0] == "Ben"


def test_overruling_begins_with_what_would_change_the_result(app, session):
    wrong(session)
    assert opposite_ruling(session.state.duel.to_json()) == "match"
    assert '"ruling": "match"' in html.unescape(app.test_client().get("/referee").text)
    assert opposite_ruling({"callers": ["A", "B"]}) == "award_A"
    assert opposite_ruling({"callers": ["A"], "award": "Ann", "seats": {"A": "Ann"}}) == "mismatch"


def test_the_margin_and_the_other_readings_stand_beside_the_verdict(app, session):
    building(session)
    session.press("A")
    other = {"verdict": "match", "confidence": 0.0, "reasons": [], "margin": -3.5}
    session.see("A", "undecided", 0.6, margin=3.5, leaning="mismatch", alternatives=[other])
    page = app.test_client().get("/referee").text
    assert "margin 3.5" in page.partition('<details class="numbers">')[2] and "reading3" in page
