"""A proof of the table over a session without devices: what the camera would say is told to it. SIMULATED."""

from __future__ import annotations

from types import SimpleNamespace

import cv2
from fake_session import MISSING, FakeSession, jpeg, table_picture

from calibration.mat import detect_mats
from cards.law import Reason
from referee.match.verdict import Verdict
from referee.session.proof_tasks import draw_tasks
from referee.session.proving import Proved

FAULT = Reason(MISSING[0], MISSING[1], (), MISSING[2])
SAID = {
    ("match", True): "match",
    ("match", False): "mismatch",
    ("mismatch", True): "mismatch",
    ("mismatch", False): "match",
}


def known(session: FakeSession) -> None:
    """The rig has been set up; the observer knows where its mats are."""
    session.observer.learn_empty(table_picture())
    session.observer.learn_colors(table_picture())
    session.observer.look = lambda image: detect_mats(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))


def begun(session: FakeSession) -> None:
    known(session)
    session.proof.begin(2, tasks=draw_tasks(session.deck, session.piece_set, 2))


def built(session: FakeSession, outcome: str) -> None:
    """What is asked for has been judged so."""
    proof, task = session.proof, session.proof.task
    ruling = "undecided" if outcome == "undecided" else SAID[task.expected, outcome == "right"]
    seen = {"right": "right", "undecided": "undecided", "wrong": "false reject"}[outcome]
    score = SimpleNamespace(outcome=seen, ruling=ruling)
    verdict = Verdict(ruling, 0.97, () if ruling == "match" else (FAULT,))
    proof.results = (
        *proof.results,
        Proved(task, proof.zone, {"image": "duel_00/stop.png"}, verdict, score, jpeg("zone_A", 1)),
    )


def asked(session: FakeSession) -> None:
    """Three have been judged; a build with a mistake is asked for."""
    begun(session)
    while len(session.proof.results) < 3 or session.proof.task.expected == "match":
        built(session, "right" if len(session.proof.results) != 1 else "undecided")


def looking(session: FakeSession) -> None:
    """It stands; the camera looks."""
    begun(session)
    session.proof.stand()


def done(session: FakeSession) -> None:
    """All have been judged, one wrong, one not at all, one was skipped."""
    begun(session)
    for n in range(10):
        if n == 4:
            session.proof.results = (*session.proof.results, None)
        else:
            built(session, {1: "wrong", 6: "undecided"}.get(n, "right"))
