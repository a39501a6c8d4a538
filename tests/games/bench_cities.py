"""How many sites of the witness's tables are read right: ``python tests/games/bench_cities.py DIR [TABLE…]``.

DIR as ``tests/witness/make_cities.py`` writes it, each table read from all of its pictures: five (four sides and from
above) or three (``--sides 3 --above 0``: from three sides, a third of a turn apart). A site is right when every
storey's colour is; undecided when that was said; else it is wrong without a warning. Prints a line for what is not
right, then shares by kind of table; the exit status says whether of the sites with towers at least 98 % are right with
five pictures and 97 % with three, and at most 0.5 % of all sites wrong without a warning. With ``--kept FILE`` a run
that was stopped goes on where it was: what these sources have read is not read again.

The split, by seed, all with ``--kinds`` of ``make_cities.py`` (``--first``, ``--count``): tables 800 to 859 teach and
choose between models (800 to 828, 830, 832 and 834, and with brown stones 829, 831, 833, 839, 849, 857 and 859 did so
far), 860 to 939 are only reported on: nothing is looked at of them but the counts. A table takes about 6 processor
seconds from three pictures, 13 from five.

Why three sides: of 234 towers of the sizes and places that ``make_cities.py`` draws, seen by geometry alone, 8.1 % have
a storey of which two opposite sides and a picture from above show less than 100 pixels in all, 4.3 % from three sides
at 60 to 70 degrees, 0.4 % at 50 to 62, as of four sides and from above.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from pathlib import Path

import cv2

import referee.vision
from calibration.camera import load_camera
from cards.pieces import load_piece_set
from referee.vision.city.sight import CityEye

RIGHT, WRONG = {5: 0.98, 3: 0.97}, 0.005
TOLD = ("right", "undecided", "wrong")


def read_table(folder: Path) -> list[dict]:
    """What was read on each site of the folder, from all of its pictures."""
    eye = CityEye(load_piece_set(folder / "pieces.json"), load_camera(folder / "camera.yaml"))
    found = eye.look([cv2.imread(str(path)) for path in pictures_of(folder)])
    truth, out = json.loads((folder / "truth.json").read_text()), []
    for city, sites in truth["cities"].items():
        for site, there in sites.items():
            sight = found.cities[int(city)].sites[int(site)] if int(city) in found.cities else None
            right = sight is not None and list(sight.colors) == there
            told = "undecided" if sight is None or not sight.sure else "right" if right else "wrong"
            row = {"kind": truth.get("kind", "usual"), "city": city, "site": site, "told": told, "there": there}
            if sight:
                nats = f"{sight.margin:.0f}/{sight.color_margin:.0f}"
                row |= {"seen": list(sight.colors), "nats": nats, "reasons": [r.text for r in sight.reasons]}
            out.append(row)
    return out


def pictures_of(folder: Path) -> list[Path]:
    """The pictures of a table, in their order."""
    return sorted(folder.glob("look_*.jpg"))


def line(name: str, many: int, row: dict) -> str:
    """A site in a line."""
    seen = f" seen {' '.join(row['seen'])}" if row.get("seen", row["there"]) != row["there"] else ""
    said = f"{row.get('nats')} nats, {row.get('reasons')}"
    where = f"{name} of {many}, city {row['city']} site {row['site']}"
    return f"{where}: {row['told']}; {' '.join(row['there']) or 'empty'}{seen}; {said}"


def sources() -> str:
    """A hash of the vision that reads."""
    paths = sorted(Path(referee.vision.__path__[0]).rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:12]


def counted(rows: list[dict], tower: bool) -> dict[str, int]:
    """How the sites with a tower, or without, were read."""
    told = Counter(row["told"] for row in rows if bool(row["there"]) == tower)
    return {how: told[how] for how in TOLD}


def report(many: int, rows: list[dict]) -> bool:
    """Print the shares by kind of table; whether the whole is good enough."""
    kinds = sorted({row["kind"] for row in rows}, key=lambda kind: (kind.count(" "), kind))
    for kind in (*kinds, "all") if len(kinds) > 1 else ("all",):
        of_kind = [row for row in rows if kind in ("all", row["kind"])]
        towers, empty = counted(of_kind, True), counted(of_kind, False)
        n, sites = max(1, sum(towers.values())), max(1, len(of_kind))
        right, wrong = towers["right"] / n, (towers["wrong"] + empty["wrong"]) / sites
        told = f"right {100 * right:.1f} %, undecided {100 * towers['undecided'] / n:.1f} %, wrong {towers['wrong']}"
        free = f"of {sum(empty.values())} empty sites undecided {empty['undecided']}, wrong {empty['wrong']}"
        print(f"{many} pictures, {kind}: {n} towers {told}; {free}; wrong without a warning {100 * wrong:.2f} %")
    return right >= RIGHT[many] and wrong <= WRONG


def main() -> int:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--kept", type=Path, help="a file of lines that the tables that were read are kept in")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    began, vision = time.process_time(), sources()
    kept = {}
    if options.kept and options.kept.exists():
        kept = {tuple(key): rows for key, rows in map(json.loads, options.kept.read_text().splitlines())}
    folders = sorted(path.parent for path in options.folder.glob("*/look_0.jpg"))
    total: dict[int, list[dict]] = {}
    for folder in folders:
        if options.tables and folder.name not in options.tables:
            continue
        many = len(pictures_of(folder))
        key = (vision, folder.name, many)
        if key not in kept:
            kept[key] = read_table(folder)
            if options.kept:
                with options.kept.open("a") as file:
                    file.write(json.dumps([key, kept[key]]) + "\n")
        total.setdefault(many, []).extend(kept[key])
        for row in kept[key]:
            if row["told"] != "right" or options.verbose:
                print(line(folder.name, many, row), flush=True)
    good = [report(many, rows) for many, rows in total.items()]
    print(f"{time.process_time() - began:.0f} processor seconds")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
