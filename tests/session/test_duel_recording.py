"""What the running match tells the recorder: every press, what is said later, and duels that outlive the program."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from cards.sentences import sentence
from referee.cli import cli
from referee.commands.play import signing_with
from referee.match.decide import DrawCard, Foul, NextDuel, Overrule, Ready
from referee.recording import find_attempts, load_attempt
from referee.recording.errors import BadAttempt
from referee.recording.folder import contested
from referee.review.signing import load_public, new_key
from referee.review.verify import verify


def begin_duel(session):
    session.create_match(("Ann", "Ben"), seed=1)
    session.command(DrawCard("L01"))
    session.command(Ready())
    session.go()
    session.clock.sleep(1.1)  # earlier presses count for nothing


def attempts(tmp_path):
    return [load_attempt(folder) for folder in find_attempts(tmp_path / "attempts")]


def test_each_press_is_on_the_record_also_those_that_did_not_count(at_table, until, tmp_path):
    with at_table(record=True) as (session, _):
        begin_duel(session)
        began_s = session.clock.now_s()
        session.press("B")
        session.clock.sleep(0.25)
        session.press("A")
        took_s = session.clock.now_s() - began_s  # longer than asked for on a busy machine
        until(lambda: session.state.phase == "decided")
    (attempt,) = attempts(tmp_path)
    presses = [m for m in attempt.meta["marks"] if m["name"] in ("stop", "press")]
    assert [(m["name"], m["zone"], m.get("why")) for m in presses] == [("stop", "B", None), ("press", "A", "late")]
    assert 0.24 < presses[1]["seconds"] - presses[0]["seconds"] <= took_s + 0.01
    assert {k: attempt.meta[k] for k in ("camera", "piece_set", "deck")} == {
        "camera": session.camera.name,
        "piece_set": session.piece_set.name,
        "deck": session.deck.name,
    }
    assert (attempt.caller, attempt.stop_s) == ("B", presses[0]["seconds"])


@pytest.mark.parametrize(
    ("said", "kinds", "ruling"),
    [
        (Overrule("mismatch", "Eve", "it leaned", 1), {"review"}, "mismatch"),
        (Foul("Ann", "her other hand helped", "Eve"), {"foul"}, None),
        (Foul("Ann", sentence("false_start", name="Ann"), "Eve"), {"foul"}, None),
    ],
)
def test_what_is_said_when_the_recording_is_closed_makes_it_contested(at_table, until, tmp_path, said, kinds, ruling):
    with at_table(record=True) as (session, _):
        begin_duel(session)
        session.press("A")
        until(lambda: session.state.phase == "decided")
        session.recording.stop()
        assert session.recording._recorder.settle(20)
        (attempt,) = attempts(tmp_path)
        before = (attempt.folder / "attempt.json").read_bytes()
        assert not {q.kind for q in contested(attempt.meta, attempt.reviews())} & kinds
        session.command(said, "Eve")
        (row,) = attempt.reviews()
        assert (row["who"], row.get("ruling")) == ("Eve", ruling) and row["why"] in (said.__dict__.values())
        assert row.get("said", {}).get("code", "") == getattr(getattr(said, "text", ""), "code", "")
        assert kinds <= {q.kind for q in contested(attempt.meta, attempt.reviews())}
        assert (attempt.folder / "attempt.json").read_bytes() == before


def test_a_duel_that_outlives_the_program_is_recorded_on(at_table, until, tmp_path):
    with at_table(record=True) as (session, _):
        begin_duel(session)
    with at_table(record=True) as (session, _):
        assert session.state.phase == "building"
        session.clock.sleep(1.0)  # the recording has begun: its first picture is its zero
        session.press("A")
        until(lambda: session.state.phase == "decided")
        session.command(NextDuel())
    first, second = attempts(tmp_path)
    assert first.cut_short == "the duel was not over" and not first.verdicts
    assert second.cut_short == "the program was started again after the go"
    assert second.go_s < 0 < second.stop_s and second.verdicts["A"]["verdict"]
    assert (second.folder / "stop.png").exists() and second.problems() == []


def test_a_closed_recording_is_sealed_in_the_record_and_its_excerpt_lies_beside_it(at_table, until, tmp_path):
    with at_table(record=True) as (session, _):
        begin_duel(session)
        session.press("A")
        until(lambda: session.state.phase == "decided")
        session.clock.sleep(4.0)
        until(lambda: any(e.kind == "recording_sealed" for e in session.journal.events(session.state.match_id)))
        (attempt,) = attempts(tmp_path)
        until(lambda: (attempt.folder / "journal.jsonl").exists())
        assert verify(attempt.folder, session.journal.entries).whole


def test_the_last_recording_is_sealed_when_the_program_ends(at_table, until, tmp_path):
    with at_table(record=True) as (session, _):
        begin_duel(session)
        session.press("A")
        until(lambda: session.state.phase == "decided")
        session.recording.stop()
        (attempt,) = attempts(tmp_path)
        assert verify(attempt.folder, session.journal.entries).whole


def test_with_an_operators_key_every_recording_is_signed_once_it_is_sealed(at_table, until, tmp_path):
    pytest.importorskip("cryptography")
    public = load_public(new_key(tmp_path / "operator"))
    stranger = load_public(new_key(tmp_path / "stranger"))
    with at_table(record=True, sign=signing_with(tmp_path / "operator")) as (session, _):
        begin_duel(session)
        session.press("A")
        until(lambda: session.state.phase == "decided")
        session.recording.stop()
        (attempt,) = attempts(tmp_path)
        assert verify(attempt.folder, session.journal.entries, public).whole
        assert verify(attempt.folder, session.journal.entries).signer == public
        assert not verify(attempt.folder, session.journal.entries, stranger).whole


def test_what_is_no_key_is_refused_before_anything_is_recorded(tmp_path):
    pytest.importorskip("cryptography")
    (tmp_path / "notes.txt").write_text("no key")
    words = [
        "run",
        "--camera",
        "none",
        "--data-dir",
        str(tmp_path / "data"),
        "--sign-with",
        str(tmp_path / "notes.txt"),
    ]
    said = CliRunner().invoke(cli, words)
    assert isinstance(said.exception, BadAttempt) and "notes.txt" in str(said.exception), said.exception
    assert not (tmp_path / "data" / "attempts").exists()


def test_thin_evidence_is_an_alarm_on_the_console_as_soon_as_the_recording_is_closed(at_table, until, monkeypatch):
    monkeypatch.setattr("referee.recording.writer.NEAREST_S", -1.0)  # no picture is near enough
    with at_table(record=True) as (session, _):
        begin_duel(session)
        session.press("A")
        until(lambda: session.state.phase == "decided")
        session.recording.stop()
        until(lambda: any("thin evidence" in str(alarm) for alarm in session.snapshot()["alarms"]))


def test_a_recording_is_closed_and_sealed_in_its_own_match_before_another_begins(at_table, until, tmp_path):
    """A rematch two seconds after the last verdict: the film went on for its match, and was sealed in none."""
    with at_table(record=True) as (session, _):
        begin_duel(session)
        first = session.state.match_id
        session.press("A")
        until(lambda: session.state.phase == "decided")
        session.create_match(("Cem", "Dia"), seed=2)
        kinds = [event.kind for event in session.match.journal.events(first)]
    assert kinds.count("recording_sealed") == 1
    (attempt,) = attempts(tmp_path)
    assert (attempt.meta["match_id"], attempt.meta.get("cut_short") or "") == (first, "")
    assert attempt.meta["award"] is not None
