"""How many staged fouls are proposed, when, and how many clean duels are wrongly accused; prints the table.

python tests/review/bench_fouls.py ROWS [--rigs N] [--clean N] [--first SEED]

ROWS is a file of one line a duel: what it holds is not played again, so that a run that was ended goes on, and the
table is of all it holds. Rigs take the seatings in turn. ``front`` counts fouls of players whose tongs the camera sees
from the side; seen from behind, a player's sleeve hides most of the hand, and they are counted apart: a second arm is
told by how two sleeves spread, a bare hand only as it leaves, and not where its own sleeve hides it all the way.
A *resting hand* is a second one that lies at the table's edge, before the sheet or beside it: no foul.

*Fouls the camera can see* are those of which a human who looks at the film could see anything, by the renderer and not
by vision: ``staged_fouls.visible`` renders every staged foul's visit twice, with and without what makes it a foul, and
asks for 64 pixels of the 640 by 360 that differ by 16 levels of 255, in two looks in a row. Less is in no way the eight
pixels across that it takes to know what a thing is. What falls short, a bare hand behind its own sleeve, is counted in
a line of its own, *nobody can see it*; every other miss is a miss.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from staged_fouls import OTHER, RESTS, Staged, Table, seen, staged, visible

from referee.match.foul import KINDS
from referee.vision.hands.field_hands import tongs_visible

CARDS = ("L20", "L27", "L33", "L38", "L43", "L48", "L09", "L14")
SEATINGS = ("across", "beside", "facing")
WITHIN_S = 0.15
HEIGHT_PX = 360
"""Of the camera: the watch works on 320 pixels' width whatever it is, and this is drawn four times as fast as 720."""

UNSEEN = "nobody can see it"
HEADS = ("duels", "proposed", "in time", "false")


def duels(seed: int, clean: int) -> list[Staged]:
    """What is played at one rig: at both mats each foul, at one of them once more, and each place where a second hand
    may rest; clean duels."""
    fouls = [
        Staged(CARDS[(seed + k + n) % len(CARDS)], zone, kind, seed=k + 10 * n)
        for k, kind in enumerate(KINDS)
        for n, zone in enumerate("AB" + "AB"[seed % 2])
    ]
    rests = [
        Staged(CARDS[(seed + k + n) % len(CARDS)], zone, seed=k + n, rests=place)
        for k, place in enumerate(RESTS)
        for n, zone in enumerate("AB")
    ]
    return fouls + rests + [Staged(CARDS[(seed + n) % len(CARDS)], seed=n) for n in range(clean)]


def row(table: Table, what: Staged) -> dict:
    """What came of one duel."""
    shown = staged(table, what)
    found = seen(table, shown)
    where = OTHER[what.zone] if what.foul == "neighbours_hand" else what.zone
    hits = [f for f in found if (f.kind, f.zone) == (what.foul, where)]
    also = ("bare_hand",) if what.foul == "second_hand" else ()  # the second hand holds no tongs
    late = min((abs(f.seconds - shown.foul_s) for f in hits), default=9.0)
    front = tongs_visible(table.observer.look(table.sim.empty()).poses[what.zone])
    shows, pixels = visible(table, what) if what.foul else (True, None)
    return {
        "kind": what.foul or ("resting hand" if what.rests else "clean"),
        "visible": shows,
        "pixels": pixels,
        "front": front or (what.foul in (None, "shaken", "brought_after_stop", "came_together") and not what.rests),
        "proposed": bool(hits),
        "in time": bool(hits) and late <= WITHIN_S,
        "false": sum(f not in hits[:1] and f.kind not in also for f in found),
        "told": [f.to_json() for f in found],
    }


def table_of(rows: list[dict]) -> str:
    """The table, one line a kind and side, one of what nobody can see, and how many of the others are proposed."""
    count: dict[tuple[str, bool], Counter[str]] = {}
    for told in rows:
        at = count.setdefault((told["kind"] if told["visible"] else UNSEEN, told["front"]), Counter())
        at["duels"] += 1
        for head in HEADS[1:]:
            at[head] += told[head]
    lines = [f"{'staged':20}{'seen from':>12}" + "".join(f"{h:>10}" for h in HEADS)]
    for (kind, front), at in sorted(count.items()):
        side = "-" if kind == "clean" else "front" if front else "behind"
        lines.append(f"{kind:20}{side:>12}" + "".join(f"{at[h]:10}" for h in HEADS))
    fouls = [told for told in rows if told["kind"] in KINDS and told["visible"]]
    return "\n".join([*lines, f"visible fouls proposed: {sum(told['proposed'] for told in fouls)} of {len(fouls)}"])


def main() -> int:
    """Play what the file lacks and print the table; gives the number of false proposals."""
    ask = argparse.ArgumentParser()
    ask.add_argument("rows", type=Path)
    ask.add_argument("--rigs", type=int, default=6)
    ask.add_argument("--clean", type=int, default=17)
    ask.add_argument("--first", type=int, default=33)
    asked = ask.parse_args()
    done = [json.loads(line) for line in asked.rows.read_text().splitlines()] if asked.rows.exists() else []
    known = {told["name"] for told in done}
    for seed in range(asked.first, asked.first + asked.rigs):
        seating, table = SEATINGS[seed % 3], None
        for what in duels(seed, asked.clean):
            name = f"{seating} {seed} {what.card} {what.zone} {what.foul or what.rests or 'clean'} {what.seed}"
            if name in known:
                continue
            table = table or Table(seed, seating, HEIGHT_PX)
            done.append({"name": name} | row(table, what))
            with asked.rows.open("a") as file:
                file.write(json.dumps(done[-1]) + "\n")
            print(name, done[-1]["told"], flush=True)
    print(table_of(done))
    return sum(told["false"] for told in done)


if __name__ == "__main__":
    sys.exit(main() > 0)
