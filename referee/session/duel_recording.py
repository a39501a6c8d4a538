"""Has every duel recorded: turns the match's events into what the recorder wants to know."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from calibration.camera import camera_text
from cards.deck import Deck
from cards.pieces import PieceSet
from cards.sentences import sentence
from referee.devices.ports import Camera
from referee.events import Event
from referee.journal.chain import lines_of
from referee.match.commands import SealRecording
from referee.match.duel import PHASES_IN_PLAY, StopPress, press_from_json
from referee.match.state import MatchState
from referee.recording import Recorder
from referee.recording.folder import JOURNAL, LATE_EVENTS, META, PLACED, of_camera, review_row, sha256
from referee.recording.writer import write_file
from referee.session.ports import RunningSession
from referee.vision.observer import Observer

AFTER_S = 2.5
"""A recording goes on so long after the verdict, unless the next card is drawn before."""

ENDING_EVENTS = {"duel_decided", "duel_void"}
CUT_GOES_ON = sentence("cut_goes_on")


Sign = Callable[[Path], None]
"""Puts an operator's signature beside a closed and sealed record. May raise OSError."""


def kept_files(deck: Deck, pieces: PieceSet, *observers: Observer) -> dict[str, object]:
    """What an attempt keeps beside its video: the lens, the colours, the empty table as they are now and the table
    before the go, and those of a second camera by names of their own."""
    files: dict[str, object] = {"deck.json": deck.to_json(), "pieces.json": pieces.to_json()}
    for number, observer in enumerate(observers, 1):
        learnt = {
            "camera.yaml": observer.camera and camera_text(observer.camera),
            "palette.json": observer.palette,
            "empty.png": observer.empty,
            "go.png": observer.at_go,
            PLACED: {zone: corners.tolist() for zone, corners in observer.placed.items()} or None,
        }
        files |= {of_camera(name, number): content for name, content in learnt.items()}
    return files


class DuelRecording:
    """One attempt folder per go, by its ``recorder``; ``sign`` puts a signature under a sealed folder."""

    def __init__(self, session: RunningSession, recorder: Recorder, sign: Sign | None = None) -> None:
        self._session, self.recorder, self._sign = session, recorder, sign
        self._closed: list[tuple[str, Path]] = []
        self._ending = threading.Lock()  # of tick and stop; never of _heard, which the commanding thread waits for
        self._filmed: dict[int, Camera] = {}
        self._running = self._writing = False
        self._end_s: float | None = None
        self._cut_short: str | None = None
        for number, camera in enumerate(session.cameras, 1):
            self.follow(camera, number)
        session.listen(self._heard)

    def follow(self, camera: Camera | None, number: int = 1) -> None:
        """Record this camera's frames as the first's or the second's, if there is one; the one before is closed by
        whoever opened it."""
        if camera is None:
            self._filmed.pop(number, None)
            return
        self._filmed[number] = camera
        camera.listen(lambda frame: self.recorder.frame(replace(frame, camera=number)))

    def tick(self, now_s: float) -> None:
        """End a recording whose verdict is long enough ago; tell the pages when it can be replayed. Nothing while
        ``stop`` is at it."""
        if not self._ending.acquire(blocking=False):
            return
        try:
            if self._end_s is not None and now_s > self._end_s:
                self._finish(self._session.state)
            elif self._writing and self.recorder.settle(0.0):
                self._writing = False
                self._seal()
                self._session.touch()
        finally:
            self._ending.release()

    def _seal(self) -> None:
        """Put the closed recordings' digests into the record, and the record so far beside them: who changes one
        afterwards would have to change the chain as well."""
        closed, self._closed = self._closed, []
        for match_id, folder in closed:
            if match_id == self._session.state.match_id and (folder / META).exists():
                self._session.attempt(SealRecording(folder.name, sha256(folder / META)))
                with suppress(OSError):  # a full disk: the digest is on record all the same
                    lines = lines_of(match_id, self._session.journal.events(match_id))
                    write_file(folder / JOURNAL, "".join(f"{line}\n" for line in lines))
                    if self._sign is not None:
                        self._sign(folder)

    def stop(self) -> None:
        """End what is being recorded, and seal it; what ``tick`` is sealing is sealed when this returns. Not for who
        holds the match: ``tick`` may wait for it."""
        with self._ending:
            if self._running:
                self._finish(self._session.state)
            if self._closed and self.recorder.settle():
                self._seal()

    def resume(self) -> None:
        """Record on when the program was started again in the middle of a duel."""
        state = self._session.state
        if state.phase in PHASES_IN_PLAY and state.duel.go_at_s is not None:
            self._begin(state)
            self._cut_short = CUT_GOES_ON
            for press in state.duel.presses:
                self._press(press)

    def _heard(self, state: MatchState, events: Sequence[Event]) -> None:
        for event in events:
            if event.kind in ("card_drawn", "next_duel") and self._running:
                self._finish(state)
            elif event.kind == "go":
                self._begin(state)
            elif self._running:
                self._mark(event)
            if event.kind in LATE_EVENTS:
                self._note(state, event)

    def _begin(self, state: MatchState) -> None:
        session, duel = self._session, state.duel
        go_s = session.clock.now_s() if duel.go_at_s is None else duel.go_at_s - session.shift_s
        self._running, self._end_s, self._cut_short = True, None, None
        self.recorder.begin(
            {
                "card": state.card_id,
                "match_id": state.match_id,
                "duel": duel.number,
                "players": dict(duel.seats),
                "zones": sorted(duel.seats),
                "camera": self._filmed[1].name,
                "piece_set": session.piece_set.name,
                "deck": session.deck.name,
                "simulated": session.simulated,
                "rules": state.rules.model_dump(),
                "go_at_s": go_s,
                "files": kept_files(session.deck, session.piece_set, *(view.observer for view in session.views)),
            }
            | ({"second": {"camera": self._filmed[2].name}} if 2 in self._filmed else {})
        )

    def _mark(self, event: Event) -> None:
        session, now_s = self._session, self._session.clock.now_s()
        if event.kind in ("stop", "press_noted"):
            self._press(press_from_json(event.data))
        elif event.kind == "judging":
            self.recorder.mark("settled", (event.data["at_s"] or now_s) - session.shift_s)
        elif event.kind == "verdict":
            self.recorder.mark("verdict", now_s, zone=event.data["zone"], ruling=event.data["ruling"])
        elif event.kind in ENDING_EVENTS:
            self._end_s = now_s + AFTER_S

    def _press(self, press: StopPress) -> None:
        """Mark a press that counted as ``stop``, any other as ``press`` with why it did not count."""
        told = ({} if press.counts else {"why": press.why}) | ({"by": press.by} if press.by else {})
        self.recorder.mark(
            "stop" if press.counts else "press",
            press.at_s - self._session.shift_s,
            zone=press.zone,
            error_s=press.error_s,
            box_us=press.box_us,
            frame_error_s=self._session.camera.status().get("frame_error_s"),
            **told,
        )

    def _note(self, state: MatchState, event: Event) -> None:
        """Write beside a duel's recordings what was said of it after they were closed."""
        number = event.data.get("number", state.duel.number)
        if not self._running or number != state.duel.number:
            self.recorder.note(state.match_id, number, review_row(event))

    def _finish(self, state: MatchState) -> None:
        self._running, self._end_s, self._writing = False, None, True
        ended = [d for d in state.history if d.go_at_s is not None]
        if not ended or (state.duel.go_at_s is not None and not state.duel.ended):
            self._close(state, {"cut_short": sentence("cut_not_over")})
            return
        duel = ended[-1]
        self._close(
            state,
            {
                "card": duel.card_id,
                "award": duel.award,
                "value": duel.points,
                "decided_by": duel.decided_by,
                "reason": duel.reason,
                "said": duel.cause.to_json()["said"],
                "callers": list(duel.callers),
                "rulings": dict(duel.rulings),
                "findings": {zone: list(names) for zone, names in duel.findings.items()},
                "human": [dict(h) for h in duel.human],
                "presses": [p.to_json() for p in duel.presses],
                "fouls": [f.to_json() for f in state.fouls],
                "cut_short": self._cut_short,
            },
        )

    def _close(self, state: MatchState, final: Mapping[str, Any]) -> None:
        folder = self.recorder.finish(final)
        if folder is not None:
            self._closed.append((state.match_id, folder))
