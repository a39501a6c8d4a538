"""What the running match tells the recorder: every press, what is said later, and duels that outlive the program."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from cards.sentences import sentence
from referee.cli import cli
from referee.commands.play import signing_with
from referee.devices.ports import SystemClock
from referee.errors import BadAttempt
from referee.events import Event
from referee.match.commands import DrawCard, Foul, NextDuel, Overrule, Ready
from referee.recording import find_attempts, load_attempt
from referee.recording.folder import contest_reasons
from referee.review.signing import load_public, new_key
from referee.review.verify import verify
from referee.session.duel_recording import DuelRecording


def begin_duel(session):
    session.create_match(("Ann", "Ben"), seed=1)
    session.command(DrawCard("L01"))
    session.command(Ready())
    session.go()
    time.sleep(1.1)  # earlier presses count for nothing


def attempts(tmp_path):
    return [load_attempt(folder) for folder in find_attempts(tmp_path / "attempts")]


def test_each_press_is_on_the_record_also_those_that_did_not_count(at_table, until, tmp_path):
    with at_table(record=True) as (session, _):
        begin_duel(session)
        began_s = session.clock.now_s()
        session.press("B")
        time.sleep(0.25)
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
        assert session.recording.recorder.settle(20)
        (attempt,) = attempts(tmp_path)
        before = (attempt.folder / "attempt.json").read_bytes()
        assert not {q.kind for q in contest_reasons(attempt.meta, attempt.reviews())} & kinds
        session.command(said, "Eve")
        (row,) = attempt.reviews()
        assert (row["who"], row.get("ruling")) == ("Eve", ruling) and row["why"] in (said.__dict__.values())
        assert row.get("said", {}).get("code", "") == getattr(getattr(said, "text", ""), "code", "")
        assert kinds <= {q.kind for q in contest_reasons(attempt.meta, attempt.reviews())}
        assert (attempt.folder / "attempt.json").read_bytes() == before


def test_a_duel_that_outlives_the_program_is_recorded_on(at_table, until, tmp_path):
    with at_table(record=True) as (session, _):
        begin_duel(session)
    with at_table(record=True) as (session, _):
        assert session.state.phase == "building"
        time.sleep(1.0)  # the recording has begun: its first picture is its zero
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
        time.sleep(4.0)
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


def test_thin_evidence_is_an_alarm_on_the_console_before_the_recording_is_closed(at_table, until, monkeypatch):
    monkeypatch.setattr("referee.recording.writer.MAX_STOP_GAP_S", -1.0)  # no picture is near enough
    monkeypatch.setattr("referee.session.duel_recording.AFTER_S", 1e6)
    with at_table(record=True) as (session, _):
        begin_duel(session)
        session.press("A")
        until(lambda: session.state.phase == "decided")
        until(lambda: any("few pictures around the Stop" in str(alarm) for alarm in session.snapshot()["alarms"]))
        assert session.recording.recorder.status()["recording"]


class SlowToSeal:
    """A session and a recorder for ``DuelRecording``, whose seal takes until it is ``let``; a duel is closed."""

    match_id, camera, clock, phase = "M1", SimpleNamespace(listen=lambda take: None), SystemClock(), "decided"
    cameras = (camera,)
    history, duel, fouls = (), SimpleNamespace(go_at_s=None, ended=False), ()

    def __init__(self, root):
        self.state, self.journal, self.root, self.sealed = self, self, root, []
        self.begun, self.let = threading.Event(), threading.Event()
        self.names = iter(("M1-001", "M1-002"))

    def listen(self, listener):
        self.heard = listener

    def events(self, match_id):
        return []

    def attempt(self, command):
        self.begun.set()
        assert self.let.wait(20)
        self.sealed.append(command.attempt)

    def touch(self):
        pass

    def frame(self, frame):
        pass

    def settle(self, timeout_s=60.0):
        return True

    def finish(self, final):
        if (name := next(self.names, None)) is None:
            return None
        (self.root / name).mkdir()
        (self.root / name / "attempt.json").write_text("{}")
        return self.root / name


def test_a_recording_is_sealed_once_and_before_the_match_changes_whoever_is_at_it(tmp_path):
    """The monitor's tick seals while a new match is asked for, which ends what is recorded."""
    session = SlowToSeal(tmp_path)
    recording = DuelRecording(session, session)
    session.heard(session, [SimpleNamespace(kind="card_drawn")])  # nothing runs yet: nothing is closed
    recording._finish(session)
    ticking = threading.Thread(target=recording.tick, args=(0.0,))
    ticking.start()
    assert session.begun.wait(20)
    recording._finish(session)  # of the commanding thread: the next card is drawn
    ending = threading.Thread(target=recording.stop)
    ending.start()
    ending.join(0.2)
    assert ending.is_alive() and session.sealed == []
    recording.tick(0.0)  # waits for nobody
    session.let.set()
    ticking.join(20)
    ending.join(20)
    assert session.sealed == ["M1-001", "M1-002"]


def test_what_is_said_of_an_earlier_duel_while_another_is_recorded_is_noted(tmp_path):
    session = SlowToSeal(tmp_path)
    session.duel, session.match_id, session.noted = SimpleNamespace(number=3), "M1", []
    session.note = lambda match_id, duel, row: session.noted.append((duel, row["ruling"]))
    DuelRecording(session, session)._running = True
    for number in (1, 3):  # the third is being recorded: its record will say so itself
        session.heard(session, [Event("duel_overruled", {"number": number, "ruling": "match"}, who="Eve")])
    assert session.noted == [(1, "match")]


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
