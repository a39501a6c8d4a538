"""Practice over a session without devices: what the camera would say is told to it."""

from __future__ import annotations

from fake_session import FakeSession

from referee.journal.journal import Journal
from referee.match.practice import GiveUp, PracticePress, Viewed, Watch
from referee.match.verdict import zone_verdict
from referee.session.practising import PracticeRunner

MATCH = {"verdict": "match", "reasons": []}
WRONG = {
    "verdict": "mismatch",
    "reasons": [
        {
            "code": "missing_piece",
            "text": "1 blue cube missing",
            "values": {"n": 1, "piece": {"color": "blue", "shape": "cube"}},
        }
    ],
}


class Practice:
    """A practice on a fake session, driven by what would be seen."""

    def __init__(self, session: FakeSession) -> None:
        session.gate = None
        session.draw = lambda frame, judgement, card: frame
        session.alarm = lambda code, text: None
        self.session, self.journal = session, Journal(session.data_dir / "practice.db")
        self.room = session.practice = PracticeRunner(session, self.journal)

    def begin(self, *names: str, level: int | None = None) -> None:
        """Somebody practises; the same cards every time."""
        self.room.begin(dict(zip("AB", names, strict=False)), level, 1)

    def now_s(self) -> float:
        return self.session.clock.now_s()

    def counting(self) -> None:
        self.room.command(Watch(self.now_s(), 2.0))

    def go(self) -> None:
        """The countdown is over."""
        self.counting()
        self.session.clock.sleep(3.2)
        self.room.command(Watch(self.now_s(), 5.0))

    def built(self, zone: str, seconds: float, row=MATCH) -> None:
        """What was seen of a build that came to rest so long after the go."""
        seen = Viewed(zone, self.room.now.go_at_s + seconds, zone_verdict(row), self.now_s())
        self.room.command(seen)
        if row is MATCH:
            self.room.command(seen)

    def wrong(self, zone: str, seconds: float) -> None:
        """Given up with a fault."""
        self.built(zone, seconds, WRONG)
        self.room.command(GiveUp(zone, self.now_s()))
        self.built(zone, seconds, WRONG)

    def pressed(self, zone: str, seconds: float) -> None:
        self.room.command(PracticePress(zone, self.room.now.go_at_s + seconds))

    def next(self) -> None:
        self.room.next_card()


def waiting(session: FakeSession) -> None:
    """Pieces still lie in one field."""
    practice = Practice(session)
    practice.begin("Ann", "Ben")
    practice.room.faults = {"A": "not_empty"}


def counting(session: FakeSession) -> None:
    practice = Practice(session)
    practice.begin("Ann")
    practice.counting()


def building(session: FakeSession) -> None:
    """One has practised three cards, in twos, and they are at the next."""
    shown(session, 3)
    practice = session.practised
    practice.next()
    practice.go()
    session.clock.sleep(4.4)


def shown(session: FakeSession, cards: int = 1) -> None:
    """Both have ended, one right, one with a fault; the first has his best time."""
    practice = session.practised = Practice(session)
    practice.begin("Ann", "Ben")
    for n in range(cards):
        if n:
            practice.next()
        practice.go()
        session.clock.sleep(9)
        practice.built("A", 8.31 - n)
        practice.wrong("B", 6.2) if n % 2 == 0 else practice.built("B", 7.77)
