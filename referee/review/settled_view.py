"""The first settled, unobstructed view after the press, which is what is judged (RULES.md)."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from referee.match.stop_views import SETTLED_FRAMES, SETTLED_S
from referee.recording import Attempt
from referee.recording.folder import VIDEO
from referee.recording.video import VideoFrame, read_video
from referee.review.fall import LEAST_AREA_MM2, LEAST_CHANGE
from referee.vision.image.view import ZoneView


def settled_view(
    attempt: Attempt, views: Sequence[ZoneView], busy: Sequence[tuple[float, float]]
) -> tuple[list[VideoFrame], bool]:
    """The last frames of the first still stretch after the press, and whether it is free of hands.

    ``busy``: (in, out) seconds of hands over the judged fields. With no still stretch free of hands the first
    still one is given; with none at all, the video's last frame.
    """
    since, run = attempt.stop_s or 0.0, list[VideoFrame]()
    blocked: list[VideoFrame] = []
    before: list[np.ndarray] | None = None
    for frame in read_video(attempt.folder / VIDEO):
        if frame.seconds < since:
            continue
        grays = [_gray(view, frame.image) for view in views]
        if before is not None and any(_moved(a, b, v) for a, b, v in zip(before, grays, views, strict=True)):
            run = []
        run, before = [*run, frame], grays
        if frame.seconds - run[0].seconds >= SETTLED_S:
            if not any(a <= frame.seconds <= b for a, b in busy):
                return run[-SETTLED_FRAMES:], True
            blocked = blocked or run[-SETTLED_FRAMES:]
            run = run[-SETTLED_FRAMES - round(SETTLED_S * 60) :]
    return blocked or run[-1:], False


def _gray(view: ZoneView, image: np.ndarray) -> np.ndarray:
    return cv2.GaussianBlur(cv2.cvtColor(view.crop(image), cv2.COLOR_BGR2GRAY), (0, 0), 1.5)


def _moved(before: np.ndarray, now: np.ndarray, view: ZoneView) -> bool:
    return (cv2.absdiff(before, now) > LEAST_CHANGE).sum() / view.px_per_mm**2 >= LEAST_AREA_MM2
