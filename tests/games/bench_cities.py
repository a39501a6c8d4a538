"""How many sites of the witness's tables are read right: ``python tests/games/bench_cities.py DIR [TABLE…]``.

DIR as ``tests/witness/make_cities.py`` writes it. A site is right when every storey's colour is; undecided when that
was said; else it is wrong without a warning. Prints a line for what is not right, then the counts; the exit status
says whether at least 98 % of the sites with towers are right and at most 0.5 % wrong without a warning.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

import cv2

from calibration.camera import load_camera
from cards.pieces import load_piece_set
from referee.vision.city.sight import CityEye

RIGHT, WRONG = 0.98, 0.005


def read_table(folder: Path, most: int, verbose: bool = False) -> Counter[tuple[str, str]]:
    """(what is there, how it was read) -> how many sites of the folder."""
    eye = CityEye(load_piece_set(folder / "pieces.json"), load_camera(folder / "camera.yaml"))
    looks = sorted(folder.glob("look_*.jpg"))[:most]
    found = eye.look([cv2.imread(str(path)) for path in looks])
    count: Counter[tuple[str, str]] = Counter()
    for city, sites in json.loads((folder / "truth.json").read_text())["cities"].items():
        for site, there in sites.items():
            sight = found.cities[int(city)].sites[int(site)] if int(city) in found.cities else None
            right = sight is not None and list(sight.colors) == there
            told = "undecided" if sight is None or not sight.sure else "right" if right else "wrong"
            count["tower" if there else "empty", told] += 1
            if told != "right" or verbose:
                said = sight and f"{sight.margin:.0f}/{sight.color_margin:.0f} nats, {[r.text for r in sight.reasons]}"
                seen = f" seen {' '.join(sight.colors)}" if sight and not right else ""
                print(f"{folder.name} city {city} site {site}: {told}; {' '.join(there) or 'empty'}{seen}; {said}")
    return count


def main() -> int:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--looks", type=int, default=5, help="so many pictures of each table")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    total: Counter[tuple[str, str]] = Counter()
    began, folders = time.monotonic(), sorted(path.parent for path in options.folder.glob("*/look_0.jpg"))
    for folder in folders:
        if not options.tables or folder.name in options.tables:
            total += read_table(folder, options.looks, options.verbose)
    for what in ("tower", "empty"):
        told = {how: total[what, how] for how in ("right", "undecided", "wrong")}
        print(f"{what}: {told} of {sum(told.values())}")
    towers = max(1, sum(n for (what, _), n in total.items() if what == "tower"))
    sites = max(1, sum(total.values()))
    right, wrong = total["tower", "right"] / towers, (total["tower", "wrong"] + total["empty", "wrong"]) / sites
    took = time.monotonic() - began
    print(f"{100 * right:.1f} % of {towers} towers right")
    print(f"{100 * wrong:.2f} % of {sites} sites wrong without a warning; {took:.0f} s")
    return 0 if right >= RIGHT and wrong <= WRONG else 1


if __name__ == "__main__":
    sys.exit(main())
