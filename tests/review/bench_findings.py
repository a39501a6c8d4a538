"""Findings around a Stop, with their times: staged duels filmed, imported and read; prints the table.

python tests/review/bench_findings.py [--out FOLDER] [--part K/N] [--shared FOLDER] [--knocks own|other] [--first SEED]

Twelve duels are staged on the simulated table and written as films with nothing but lens, pieces and deck beside them;
with ``--shared`` the two shared recordings as well. With ``--knocks`` instead the own hand (or the neighbour's) knocks
the build over, at eight rigs of each seating and at both mats. A finding's true time is when a hand or a piece first
moves in the field. Exit status 1 when a finding is missed, invented, or told more than WITHIN_S off. A film that is
refused is counted apart where pieces lie on every marker of the caller's mat, and is wrong where they do not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))

import cv2
import numpy as np
from staged import DECK, FPS, PRESS_S, SET, Stage, finishing_late, knocked_over, rig, touched_s, untouched

from calibration.camera import camera_text
from calibration.markers import CORNERS, MARKER_CENTRES
from referee.errors import BadAttempt
from referee.recording import load_attempt
from referee.recording.folder import write_json
from referee.recording.video import VideoWriter
from referee.recording.writer import write_file
from referee.review.import_video import ImportOptions, import_video
from referee.review.stop_ruling import stop_findings
from referee.simulator.meshes import PosedPiece
from referee.simulator.table import Hand, World

WITHIN_S, GO_S, UNTIL_S = 0.15, 1.0, 6.0
COLOURED = 40
"""Levels of 255 by which a piece's channels differ more than those of paper and ink do, in shade or not."""

FILES = dict.fromkeys(("deck.json", "pieces.json", "camera.yaml"))
Happens = Callable[[float], World]


@dataclass(frozen=True)
class Play:
    """A staged duel: where, which card, who calls, what happens, and what must be found when (nothing: clean)."""

    name: str
    seed: int
    seating: str
    card: str
    caller: str
    stage: Callable[[Stage], Happens]
    finding: str = ""
    at_s: float = 0.0


def falls(stage: Stage, delay_s: float) -> Happens:
    """The highest piece topples by itself."""
    full, fallen = stage.full, stage.fallen
    top, lies = full[stage.last_index()], fallen[-1]
    rest = [p for p in full if p is not top]
    before, after = stage.world(full), stage.world(fallen)

    def happens(t: float) -> World:
        share = (t - PRESS_S - delay_s) / 0.35
        if share < 0:
            return before
        if share >= 1:
            return after
        way = np.asarray(top.centre) + (np.asarray(lies.centre) - np.asarray(top.centre)) * share * share
        return stage.world([*rest, PosedPiece(top.shape, top.color, top.turn, way)])

    return happens


def early_hand(stage: Stage, before_s: float) -> Happens:
    """The caller's hand is at work in the field so long before the go; a right build follows."""
    done, tips = stage.world(stage.full), np.array([(-40.0, -10.0, 30.0), (40.0, 5.0, 45.0)])

    def happens(t: float) -> World:
        if t < GO_S - before_s:
            return stage.world([])
        if t < GO_S + 0.5:
            tip = tips[0] + (tips[1] - tips[0]) * (0.5 + 0.5 * np.sin(9 * t))
            return stage.world([], {stage.caller: Hand(tuple(tip))})
        return done

    return happens


def after_the_go(happens: Happens, stage: Stage) -> Happens:
    """The same on a table whose fields are bare until a moment after the go."""
    bare = stage.world([])
    return lambda t: bare if t < GO_S + 0.4 else happens(t)


LATE, KNOCK, FELL, EARLY = "touched_after_stop", "bumped", "fell_after_stop", "false_start"
PLAYS = (
    Play("finished 0.15 s late", 3, "across", "L09", "A", lambda s: finishing_late(s, 0.15), LATE, PRESS_S + 0.15),
    Play("finished 0.3 s late", 4, "beside", "L05", "B", lambda s: finishing_late(s, 0.3), LATE, PRESS_S + 0.3),
    Play("finished 0.6 s late", 5, "facing", "L14", "A", lambda s: finishing_late(s, 0.6), LATE, PRESS_S + 0.6),
    Play("the neighbour knocks it over", 3, "across", "L09", "B", lambda s: knocked_over(s, 0.3), KNOCK, PRESS_S + 0.5),
    Play("the same, facing", 5, "facing", "L20", "A", lambda s: knocked_over(s, 0.3), KNOCK, PRESS_S + 0.5),
    Play("the own hand does", 4, "beside", "L09", "A", lambda s: knocked_over(s, 0.3, own=True), LATE, PRESS_S + 0.5),
    Play("falls 0.4 s after", 3, "across", "L05", "A", lambda s: falls(s, 0.4), FELL, PRESS_S + 0.4),
    Play("falls 0.2 s after", 4, "beside", "L27", "B", lambda s: falls(s, 0.2), FELL, PRESS_S + 0.2),
    Play("stood before the go", 3, "across", "L09", "A", lambda s: untouched(s, s.full), EARLY, 0.0),
    Play("a hand before the go", 5, "facing", "L09", "B", lambda s: early_hand(s, 0.5), EARLY, GO_S - 0.5),
    Play("clean and right", 4, "beside", "L14", "A", lambda s: untouched(s, s.full)),
    Play("clean and wrong", 5, "facing", "L05", "B", lambda s: untouched(s, s.full_without_last())),
)


KNOCK_CARDS = ("L09", "L05", "L14", "L20", "L27", "L33", "L38", "L43")


def knocks(own: bool, first: int) -> Iterator[Play]:
    """One play for each caller, seating and seed from ``first`` on; each is too soon for a settled view before it."""
    for seed in range(first, first + len(KNOCK_CARDS)):
        for n, (seating, caller) in enumerate(product(("across", "beside", "facing"), "AB")):
            card = KNOCK_CARDS[(seed + n) % len(KNOCK_CARDS)]
            stage = partial(knocked_over, delay_s=(0.15, 0.2, 0.3)[(seed + n // 2) % 3], own=own)
            at = Stage(rig(seed, seating), DECK.card(card), caller)
            at_s = touched_s(at, stage(at), UNTIL_S)
            yield Play(
                f"{seed} {seating} {card} {caller}", seed, seating, card, caller, stage, LATE if own else KNOCK, at_s
            )


def filmed(play: Play, folder: Path) -> Path:
    """The staged duel as a recording with nothing but what its players know."""
    at = rig(play.seed, play.seating)
    stage = Stage(at, DECK.card(play.card), play.caller)
    happens = play.stage(stage)
    happens = happens if play.finding == EARLY else after_the_go(happens, stage)
    folder.mkdir(parents=True)
    writer = VideoWriter(folder / "video.mp4", at.table.lens.width, at.table.lens.height)
    times = np.arange(0.0, UNTIL_S, 1 / FPS)
    for number, now in enumerate(times):
        writer.write(at.picture(happens(float(now)), number), float(now))
    writer.close()
    (folder / "frames.csv").write_text("index,seconds\n" + "".join(f"{n},{t:.4f}\n" for n, t in enumerate(times)))
    write_file(folder / "deck.json", DECK.to_json())
    write_file(folder / "pieces.json", SET.to_json())
    write_file(folder / "camera.yaml", camera_text(at.table.lens.model()))
    stop = {"zone": play.caller, "seconds": PRESS_S}
    write_json(folder / "attempt.json", {"card": play.card, "go": GO_S, "stop": stop, "simulated": True})
    return folder


def markers_whole(play: Play) -> int:
    """How many markers of the caller's mat no loose piece covers, and the picture's edge neither, by the rendering."""
    at = rig(play.seed, play.seating)
    stage, seat, sim = Stage(at, DECK.card(play.card), play.caller), at.table.seats[play.caller], at.table
    bare, loose = (np.ptp(sim.clean(world).astype(int), 2) for world in (World(), stage.world([])))
    covered, whole = loose - bare > COLOURED, 0
    for centre in MARKER_CENTRES:
        corners = np.column_stack([centre + CORNERS, np.zeros(len(CORNERS))]) @ seat.turn().T + [seat.x, seat.y, 0]
        pixels = sim.lens.project(corners)[0].round().astype(np.int32)
        there = cv2.fillConvexPoly(np.zeros(covered.shape, np.uint8), pixels, 1) > 0
        inside = (pixels >= 0).all() and (pixels < covered.shape[::-1]).all()
        whole += bool(inside and not covered[there].any())
    return whole


def told(folder: Path, out: Path) -> tuple[str, list[dict]]:
    """The caller's verdict and the findings with their times, of the imported film."""
    attempt = import_video(folder, ImportOptions(files=FILES), out)
    return attempt.verdicts[attempt.caller or "A"]["verdict"], stop_findings(load_attempt(out))


def row(name: str, wanted: tuple[str, float] | None, said: tuple[str, list[dict]]) -> bool:
    """Print one line; whether exactly what is wanted was found, in time."""
    verdict, found = said
    names = [f["finding"] for f in found]
    off = found[0]["seconds"] - wanted[1] if wanted and found else 0.0
    good = names == ([wanted[0]] if wanted else []) and abs(off) <= WITHIN_S
    times = ", ".join(f"{f['finding']} {f['seconds']:.2f} s" for f in found) or "nothing"
    true = f"{wanted[0]} {wanted[1]:.2f} s" if wanted else "nothing"
    print(f"{name:30}{true:28}{times:40}{off:+7.2f} s  {verdict}{'' if good else '  <- WRONG'}", flush=True)
    return good


def main() -> int:
    """Print the table; gives the exit status."""
    ask = argparse.ArgumentParser()
    ask.add_argument("--out", type=Path)
    ask.add_argument("--part", default="0/1")
    ask.add_argument("--shared", type=Path)
    ask.add_argument("--knocks", choices=("own", "other"))
    ask.add_argument("--first", type=int, default=11)
    asked = ask.parse_args()
    first, step = map(int, asked.part.split("/"))
    good, out_of_view = [], 0
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        out = asked.out or Path(scratch)
        plays = [*knocks(asked.knocks == "own", asked.first)] if asked.knocks else PLAYS
        for n, play in enumerate(plays[first::step]):
            folder = filmed(play, out / f"{first}_{n}")
            wanted = (play.finding, play.at_s) if play.finding else None
            try:
                good.append(row(play.name, wanted, told(folder, out / f"{first}_{n}_made")))
            except BadAttempt as error:
                whole = markers_whole(play)
                print(f"{play.name:30}{error}{'  <- WRONG' if whole else ''}", flush=True)
                out_of_view += not whole
                if whole:
                    good.append(False)
        for name, wanted in (("right_500", None), ("collapse_501", (FELL, 10.0))) if asked.shared else ():
            good.append(row(name, wanted, told(asked.shared / name, out / f"{name}_made")))
    print(f"{sum(good)} of {len(good)} as they were; mat out of view: {out_of_view}")
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
