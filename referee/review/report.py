"""What judging again would change: JSON for programs, a page with pictures side by side for people."""

import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.resources import files
from pathlib import Path

import cv2
import numpy as np
from jinja2 import Environment

from calibration.camera import CameraModel
from cards.errors import RefereeError
from cards.pieces import PieceSet
from referee.recording import Attempt, load_attempt
from referee.recording.address import AttemptSource, fetched_attempt
from referee.review.film import observer_of
from referee.review.options import RejudgeOptions
from referee.review.rejudge import needed_files, stored_build
from referee.vision.image.view import ZoneView, zone_view
from referee.vision.overlay import COLOURS, outlines

PICTURE_WIDTH = 720
"""Pixels: two side by side fit a laptop's screen."""

PICTURES_AT_MOST = 60
"""A page that loads on a laptop, and a few seconds of work: where rules alone change nothing takes longer."""


def summarize(rows: Sequence[Mapping]) -> dict:
    """Counts, every changed row, and the standings before and after. JSON-able."""
    changes = [row for row in rows if row["changed"]]
    problems = [row for row in rows if row["problem"]]
    return {
        "attempts": len(rows),
        "changed": len(changes),
        "problems": len(problems),
        "awards_moved": sum(row["award_was"] != row["award_now"] for row in changes),
        "changes": changes,
        "faults": [{k: row[k] for k in ("attempt", "problem")} for row in problems],
        "standings": standings_change(rows),
    }


def standings_change(rows: Iterable[Mapping]) -> dict[str, list[dict]]:
    """Match -> players with points as recorded (``was``) and as they would be (``now``), best first."""
    tables: dict[str, dict[str, dict]] = {}
    for row in rows:
        if row["problem"]:
            continue
        table = tables.setdefault(row["match"], {})
        for player in row["players"].values():
            table.setdefault(player, {"player": player, "was": 0, "now": 0})
        for when, value in (("was", row["value_was"]), ("now", row["value"])):
            winner = row[f"award_{when}"]
            if winner in table:
                table[winner][when] += value
    return {
        match: sorted(table.values(), key=lambda p: (-p["now"], p["player"])) for match, table in sorted(tables.items())
    }


def write_report(rows: Sequence[Mapping], out: Path) -> dict:
    """Write ``report.json``, ``report.html`` and pictures of what changed; gives the summary."""
    found = summarize(rows)
    (out / "report.json").write_text(json.dumps(found, indent=1, ensure_ascii=False), encoding="utf-8")
    shown = found["changes"][:PICTURES_AT_MOST]
    attempts = [row["attempt"] for row in shown]  # those of one name may come from several archives
    names = [f"{name}.{n}" if attempts.index(name) < n else name for n, name in enumerate(attempts)]
    with ThreadPoolExecutor() as pool:
        drawn = pool.map(lambda row, name: _picture(row, out, name), shown, names)
    pictures = {row["folder"]: name for row, name in zip(shown, drawn, strict=True) if name}
    text = files("referee.review").joinpath("rejudge.html").read_text(encoding="utf-8")
    page = Environment(autoescape=True).from_string(text).render(found, pictures=pictures)
    (out / "report.html").write_text(page, encoding="utf-8")
    return found


def _picture(row: Mapping, out: Path, stem: str) -> str | None:
    try:
        with fetched_attempt(AttemptSource(row["folder"]), partial(needed_files, RejudgeOptions())) as folder:
            image = side_by_side(load_attempt(folder), row["zones"])
    except RefereeError:
        return None
    name = f"pictures/{stem}.jpg"
    (out / "pictures").mkdir(exist_ok=True)
    cv2.imwrite(str(out / name), image, [cv2.IMWRITE_JPEG_QUALITY, 85])
    return name


def side_by_side(attempt: Attempt, zones: Mapping[str, Mapping]) -> np.ndarray:
    """The judged frame twice, (h, w, 3) uint8: with the build as it was understood then and as it is now,
    outlined in the ruling's colour. The words stand beside it: letters in a picture have one language for ever."""
    attempt = attempt.judged_views[0]
    image = attempt.judged_frames()[0]
    mats = observer_of(attempt).look(image)
    halves = []
    for when in ("was", "now"):
        drawn = image.copy()
        for zone, pose in mats.poses.items():
            if row := (zones.get(zone) or {}).get(when):
                _outline(drawn, row, zone_view(image, mats.camera, pose), mats.camera, attempt.piece_set)
        height = round(drawn.shape[0] * PICTURE_WIDTH / drawn.shape[1])
        halves.append(cv2.resize(drawn, (PICTURE_WIDTH, height), interpolation=cv2.INTER_AREA))
    return np.hstack(halves)


def _outline(image: np.ndarray, row: Mapping, view: ZoneView, camera: CameraModel, pieces: PieceSet) -> None:
    thick = max(2, image.shape[1] // 480)
    for outline in outlines(view, camera, stored_build(row, pieces)):
        contours = [np.round(c).astype(np.int32) for c in outline.contours]
        cv2.drawContours(image, contours, -1, COLOURS[row["verdict"]], thick, cv2.LINE_AA)
