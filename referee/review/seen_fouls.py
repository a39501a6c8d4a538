"""The fouls that a recorded duel's video shows: the same watch as live, over the recorded frames."""

from collections.abc import Callable

from referee.devices.ports import Frame
from referee.recording import Attempt
from referee.review.film import recorded_frames
from referee.review.observer import observer_of
from referee.vision.live.fouls import LOOK_S, DetectedFoul, FoulWatch
from referee.vision.live.gate import Gate


def seen_fouls(attempt: Attempt, tick: Callable[[], object] = lambda: None) -> list[DetectedFoul]:
    """What is proposed between the go and the end of the video, in the order of time; ``tick`` is called per frame."""
    gate, watch, found = Gate(observer_of(attempt)), FoulWatch(), list[DetectedFoul]()
    looked_s = float("-inf")
    for number, shown in enumerate(recorded_frames(attempt)):
        tick()
        if shown.seconds - looked_s < LOOK_S:
            continue
        looked_s = shown.seconds
        frame = Frame(shown.image, number, shown.seconds)
        look = gate.look(frame)
        if shown.seconds >= (attempt.go_s or 0.0):
            found += watch.look(frame, gate.reduced_frame(), look, attempt.stop_s)
    return sorted(found, key=lambda seen: seen.from_s)
