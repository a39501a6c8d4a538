"""Simulated duels as recordings with truth: ``python tests/review/sim_recording.py FOLDER [SEED…]``.

The simulated players' scripts are rendered frame by frame, as fast as the machine can, into an attempt folder
with ``truth.json`` beside it: which piece was placed when, and when one began to fall by itself.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "simulator"))

from posed_table import PosedTable

from calibration.camera import camera_text
from calibration.palette import Palette
from cards.deck import builtin_deck
from cards.pieces import builtin_piece_set
from referee.recording.folder import write_json
from referee.recording.video import VideoWriter
from referee.recording.writer import write_file
from referee.simulator.build_plans import spread_set
from referee.simulator.players import PlayerProfile, Players
from referee.vision.observer import Observer

FPS, GO_S, AFTER_S = 15, 2.0, 2.5


@dataclass(frozen=True)
class Plot:
    """What happens: the ``seed`` of rig and players, where they sit, which card, whether a build falls; the picture's
    ``height``, px."""

    seed: int
    seating: str = "across"
    card: str = "L01"
    falls: bool = False
    height: int = 720


def record(plot: Plot, folder: Path) -> dict:
    """Render the duel into ``folder``; gives its truth: zone -> pieces placed, and when one began to fall."""
    pieces, deck = builtin_piece_set(), builtin_deck()
    table = PosedTable(pieces, plot.seed, seating=plot.seating, height=plot.height)
    profile = PlayerProfile(errs=0.0, falls=1.0 if plot.falls else 0.0)
    players = Players(pieces, sorted(table.seats), plot.seed, profile)
    players.begin(deck.card(plot.card), GO_S)
    scripts = dict(players._scripts)  # as they are meant; Stop will change them
    zone, stop = min(players.presses().items(), key=lambda press: press[1])
    folder.mkdir(parents=True)
    film(table, players, stop, folder)
    for name, content in (
        ("palette.json", learnt(table)),
        ("deck.json", deck.to_json()),
        ("pieces.json", pieces.to_json()),
        ("camera.yaml", camera_text(table.lens.model())),
        ("empty.png", table.empty()),
    ):
        write_file(folder / name, content)
    write_json(
        folder / "attempt.json",
        {
            "card": plot.card,
            "go": GO_S,
            "simulated": True,
            "cut_short": None,
            "players": {"A": "Ann", "B": "Ben"},
            "zones": ["A", "B"],
            "stop": {"zone": zone, "seconds": round(stop, 3)},
        },
    )
    truth = {
        "placed": {z: told(s, stop) for z, s in scripts.items()},
        "falls": {z: round(m.start_s, 3) for z, s in scripts.items() for m in s.moves if not m.by_hand},
    }
    write_json(folder / "truth.json", truth)
    return truth


def learnt(table: PosedTable) -> Palette:
    """The colours as the demo's set-up learns them: from the whole set standing apart in each field."""
    observer = Observer(table.piece_set)
    observer.learn_empty(table.empty())
    return observer.learn_colors(table.picture(dict.fromkeys(table.seats, spread_set(table.piece_set)), {}))


def film(table: PosedTable, players: Players, stop: float, folder: Path) -> None:
    """Write the video and its frame times; the players hear Stop."""
    writer, heard = VideoWriter(folder / "video.mp4", table.lens.width, table.lens.height), False
    seconds = np.arange(0.0, stop + AFTER_S, 1 / FPS)
    for number, now in enumerate(seconds):
        if now >= stop and not heard:
            players.stop(stop)
            heard = True
        writer.write(table.render(players.world(now), number), now)
    writer.close()
    rows = (f"{n},{s:.4f}" for n, s in enumerate(seconds))
    (folder / "frames.csv").write_text("\n".join(["index,seconds", *rows]) + "\n")


def told(script, stop: float) -> list[dict]:
    """The pieces that a script's hand set down before the Stop, in order."""
    moves = [m for m in script.moves if m.by_hand and m.end_s <= stop]
    return [{"shape": m.goal.shape, "color": m.goal.color, "seconds": round(m.end_s, 3)} for m in moves]


if __name__ == "__main__":
    for text in sys.argv[2:]:
        number = int(text)
        made = Path(sys.argv[1]) / f"sim_{number}"
        deck_ids = [c.id for c in builtin_deck().cards]
        plot = Plot(
            number, ("across", "beside", "facing")[number % 3], deck_ids[number * 7 % len(deck_ids)], number % 4 == 3
        )
        print(made, json.dumps(record(plot, made)))
