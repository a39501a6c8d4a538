"""Seeing during play, on one thread: the gate looks at every frame it can; after a Stop builds are judged.

What is judged is the first settled, unobstructed view after Stop, in several frames.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from calibration.errors import BadCamera
from referee.errors import DeviceLost, IllegalCommand, RefereeError
from referee.holder import Holder
from referee.looks import Looks
from referee.match import BeginJudging, CameraVerdict, MatchState, NameCard
from referee.ports import Frame
from referee.vigil import Vigil

SETTLED_S = 0.4
"""Nothing in the field has moved for so long, and so long after the Stop: what topples does so sooner."""

JUDGED_FRAMES = 3
TOUCH_S = 0.2
"""Pages hear of the gates this often at most."""

BLOCKED_S = 8.0
"""After so long without a clear view the operator is told."""

VIGIL_S = 2.0
"""The rig itself is looked over this often, between the duels."""


class Watch:
    """The session's eyes. ``gates`` and ``shown`` may be asked from any thread."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._closing = threading.Event()
        self._looks = Looks()
        self._gates: dict[str, dict] = {}
        self._calm: list[Frame] = []
        self._touched_s = self._vigil_s = 0.0
        self._holder = Holder()
        self._vigil = Vigil()
        self._stopped_s: float | None = None
        self._judged: dict[int, int] = {}
        self._count = 0
        self._thread = threading.Thread(target=self._run, name="session watch", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._closing.set()
        if self._thread.ident:
            self._thread.join()

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def gates(self) -> dict[str, dict]:
        """Per zone what the gate saw last."""
        return self._gates

    @property
    def card_read(self) -> str | None:
        """The card that stands in the holder, as far as the camera can read it."""
        return self._holder.seen

    def shown(self, state: MatchState) -> dict:
        """Which picture belongs to the duel's verdict: number and address; empty without one."""
        number = self._judged.get(state.duel.number)
        return {"number": number, "overlay": f"/media/overlay/{number}.jpg"} if number else {}

    def _run(self) -> None:
        camera, after = self._session.camera, -1
        while not self._closing.is_set():
            if camera is not self._session.camera:
                camera, after = self._session.camera, -1
            try:
                frame = camera.latest(after, 0.3)
            except DeviceLost:
                self._closing.wait(0.3)
                continue
            if frame is not None:
                after = frame.number
                self._try_to_see(frame)

    def _try_to_see(self, frame: Frame) -> None:
        """A frame that the lens in use does not fit is an alarm and no end of seeing."""
        try:
            self._see(frame)
        except BadCamera as error:
            self._session._alarm("lens", str(error))
            self._closing.wait(0.3)
        else:
            self._session._alarm("lens", None)

    def _see(self, frame: Frame) -> None:
        look = self._session.gate.look(frame)
        state = self._session.state
        self._looks.add(frame, look, state.phase == "building")
        self._publish(frame, look)
        if state.phase in ("stopped", "judging"):
            self._towards_verdict(frame, look, state)
        else:
            self._calm, self._stopped_s = [], None
            self._session._alarm("blocked", None)
            self._look_over_rig(frame, state)
        self._look_at_card(frame, state)

    def _look_over_rig(self, frame: Frame, state: MatchState) -> None:
        """Camera, mats and light, while nobody builds: hands and pieces cover markers."""
        if state.phase in ("building", "ready") or frame.at_s - self._vigil_s < VIGIL_S:
            return
        self._vigil_s = frame.at_s
        for code, text in self._vigil.look(frame.image).items():
            self._session._alarm(code, text)

    def set_up_anew(self) -> None:
        """The rig is as it should be from now on."""
        self._vigil.restart()

    def _publish(self, frame: Frame, look: Any) -> None:
        gates = {
            zone: {
                "mat_seen": g.mat_seen,
                "hand": g.hand,
                "moving": round(g.moving, 3),
                "settled_s": round(g.settled_s, 1),
                "fill": round(g.fill, 3),
            }
            for zone, g in look.zones.items()
        }
        if gates != self._gates and frame.at_s - self._touched_s > TOUCH_S:
            self._gates, self._touched_s = gates, frame.at_s
            self._session.touch()

    def _towards_verdict(self, frame: Frame, look: Any, state: MatchState) -> None:
        """Wait for enough calm frames of the callers' fields, then judge."""
        self._stopped_s = self._stopped_s or frame.at_s
        called = [p["at_s"] for p in state.presses if "callers" in p]
        press_s = max(called, default=0.0) - self._session.shift_s
        blocked = [z for z in state.duel.callers if not _clear(look, z)]
        if blocked or state.card_id is None or frame.at_s <= press_s + SETTLED_S:
            self._calm = []
            if blocked and frame.at_s - self._stopped_s > BLOCKED_S:
                fields = " and ".join(blocked)
                self._session._alarm("blocked", f"no clear view of field {fields} to judge yet")
            return
        self._calm.append(frame)
        if len(self._calm) >= JUDGED_FRAMES:
            early = self._looks.frames_at(press_s) if state.rules.judged_view == "at_stop" else []
            self._judge(early or self._calm, state)
            self._calm = []

    def _judge(self, frames: list[Frame], state: MatchState) -> None:
        session, number = self._session, state.duel.number
        try:
            if state.phase == "stopped":
                session.command(BeginJudging(frames[0].at_s + session.shift_s))
            card = session.deck.card(state.card_id)
            judgement = session.observer.judge([f.image for f in frames], card, state.duel.callers)
            rows = _rows(judgement)
            self._keep(frames, judgement, rows, card, number)
            self._tell(rows, frames, judgement, number)
        except IllegalCommand:
            return
        except RefereeError as error:
            session._alarm("judging", str(error))

    def _tell(self, rows: Mapping[str, dict], frames: list[Frame], judgement: Any, number: int) -> None:
        """The camera's verdict, unless the duel has moved on meanwhile."""
        session = self._session
        state = session.state
        if state.duel.number != number or state.phase not in ("stopped", "judging"):
            return
        evidence = {
            "frames": [f.number for f in frames],
            "seconds": round(judgement.seconds, 3),
            "notes": list(judgement.notes),
        }
        for zone in state.duel.callers:
            verdict = rows.get(zone) or _unseen(zone)
            findings = self._findings(state, zone, verdict)
            if "hand_at_stop" in findings and not self._own_hand(state, zone):
                findings, verdict = (), _doubtful(verdict, state.rules.hand_at_stop)
            session.command(CameraVerdict(zone, verdict, findings, evidence=evidence), "camera")

    def _keep(self, frames: list[Frame], judgement: Any, rows: Mapping[str, dict], card: Any, number: int) -> None:
        self._count += 1
        self._judged[number] = self._count
        self._session.pictures.verdict(self._count, frames[-1].image, judgement, card)
        if self._session.taping:
            self._session.taping.judged(frames, rows)

    def _findings(self, state: MatchState, zone: str, verdict: Mapping[str, Any]) -> tuple[str, ...]:
        """What was seen around that zone's Stop that house rules ask about. What stands did not fall."""
        press = next((p for p in state.presses if "callers" in p and p["zone"] == zone), None)
        if press is None:
            return ()
        at_s = press["at_s"] - self._session.shift_s
        fell = verdict["verdict"] == "mismatch" and self._looks.fell(zone, at_s)
        return ("hand_at_stop",) * self._looks.hand_at(zone, at_s) + ("fell_after_stop",) * fell

    def _own_hand(self, state: MatchState, zone: str) -> bool:
        press = next(p for p in state.presses if "callers" in p and p["zone"] == zone)
        return self._looks.whose(zone, press["at_s"] - self._session.shift_s)

    def _look_at_card(self, frame: Frame, state: MatchState) -> None:
        before = self._holder.seen
        read = self._holder.look(frame, state, self._session.deck)
        if read is not None and state.card_id is None and state.can(NameCard):
            self._session._try(NameCard(read, "marker"))
        self._session._alarm("wrong_card", self._holder.wrong(self._session.state))
        if self._holder.seen != before:
            self._session.touch()


def _clear(look: Any, zone: str) -> bool:
    gate = look.zones.get(zone)
    return gate is not None and gate.mat_seen and not gate.hand and gate.settled_s >= SETTLED_S


def _rows(judgement: Any) -> dict[str, dict]:
    """The contract's rows by zone, with the other readings that a human is offered first."""
    return {
        zone: verdict.to_json() | {"alternatives": [other.to_json() for other in verdict.alternatives]}
        for zone, verdict in judgement.zones.items()
    }


def _doubtful(verdict: Mapping[str, Any], rule: str) -> Mapping[str, Any]:
    """A right build with a hand before it that may be the neighbour's: a human says whose it was."""
    if verdict["verdict"] != "match" or rule == "ignore":
        return verdict
    why = {"code": "hand_at_stop", "text": "a hand was before the field at Stop, perhaps the neighbour's"}
    return {**verdict, "verdict": "undecided", "leaning": "match", "reasons": [why]}


def _unseen(zone: str) -> dict:
    text = f"mat {zone} is not in view"
    return {"verdict": "undecided", "confidence": 0.5, "reasons": [{"code": "mat_not_seen", "text": text}]}
