"""The page on which a table proves itself: what it asks, who may press, and that the box's Stop says it stands."""

from __future__ import annotations

import proving
import pytest


def text_of(client, lang="en") -> str:
    return client.get(f"/prove?lang={lang}").get_data(as_text=True)


def test_before_the_set_up_it_leads_there_and_after_it_asks(app, session):
    client = app.test_client()
    assert "/setup#empty" in text_of(client) and "/setup#colors" in text_of(client)
    assert client.post("/prove/begin").status_code == 409 and session.proof.task is None
    proving.known(session)
    assert client.post("/prove/begin").status_code == 303
    page = text_of(client)
    assert "Build 1 of 10" in page and "It stands" in page and "/setup#empty" not in page
    assert client.post("/prove/stand").status_code == 303 and session.proof.looking
    for what, done in (("skip", 1), ("again", 0), ("skip", 1), ("end", 1)):
        assert client.post(f"/prove/{what}").status_code == 303 and len(session.proof.results) == done
    assert session.proof.task is None and client.post("/prove/stand").status_code == 409


@pytest.mark.parametrize(("lang", "words"), [("en", "7 of 9 right, 1 wrong"), ("de", "7 von 9 richtig, 1 falsch")])
def test_at_the_end_are_the_figures_and_what_to_mend(app, session, lang, words):
    proving.done(session)
    page = text_of(app.test_client(), lang)
    assert words in page and "/prove/build/9.jpg" in page and "/prove/build/4.jpg" not in page
    assert session.proof.begun_at[:10] not in page, "nothing was kept yet"
    assert app.test_client().get("/prove/build/4.jpg").status_code == 404


def test_the_last_kept_proof_is_told_with_what_people_said_since(app, session):
    proving.begun(session)
    session.proof.skip()
    assert "Last proof" in (page := text_of(app.test_client())) and "ruled on 0 builds" in page


def test_a_press_at_the_mat_that_is_built_on_says_that_it_stands(session):
    assert not session.proof.press("A")
    proving.begun(session)
    assert session.proof.press("B") and not session.proof.looking
    assert session.proof.press("A") and session.proof.looking


def test_a_duel_ends_it_and_who_is_not_the_referee_sees_nothing(locked_app, session):
    proving.begun(session)
    client = locked_app.test_client()
    assert client.get("/prove").status_code in (302, 303, 401) and client.post("/prove/skip").status_code in (401, 403)
    assert not session.proof.results
