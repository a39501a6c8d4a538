"""A cache folder that others may write to: nothing in it is run, unpickled or so much as opened.

The compiled loops come with the program. Earlier they lay in ``REFEREE_CACHE_DIR`` as pickles and machine code, and
what another user of the machine had put there ran as whoever judged a picture.
"""

from __future__ import annotations

import ast
import hashlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest
from posed_table import PosedTable

from cards.deck import builtin_deck
from cards.pieces import builtin_piece_set
from referee.simulator.build_plans import plan_build

ROOT = Path(__file__).parents[2]
LOADERS = {"pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle", "platformdirs"}

WATCHED = """
import sys
folders = sys.argv.pop(1).split(":")
def hook(event, args):
    if event in ("open", "os.listdir", "os.scandir", "import", "ctypes.dlopen", "pickle.find_class"):
        if event == "pickle.find_class" or any(str(a).startswith(f) for a in args for f in folders):
            print("TOUCHED", event, args, flush=True)
sys.addaudithook(hook)
from referee.cli import main
sys.argv[0] = "referee"
main()
"""


class Evil:
    """Says so where it is unpickled."""

    def __init__(self, sign: Path) -> None:
        self._sign = sign

    def __reduce__(self):
        return os.system, (f"touch {self._sign}",)


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    """A picture of a table on which A has built L01."""
    table = PosedTable(builtin_piece_set(), 3)
    built = plan_build(builtin_deck().card("L01"), builtin_piece_set(), np.random.default_rng(1))
    path = tmp_path_factory.mktemp("table") / "built.png"
    assert cv2.imwrite(str(path), table.picture({"A": built}))
    return path


def planted(folder: Path, sign: Path) -> None:
    """What another user may have put there: the old caches' files, and modules and libraries of the loops' names."""
    data = pickle.dumps(Evil(sign))
    for source in (ROOT / "referee" / "kernels").glob("*.py"):
        for end in (".machine", ".pkl", ".nbi", ".so"):
            (folder / f"{source.stem}-{'0' * 32}{end}").write_bytes(hashlib.sha256(data).digest() + data)
        (folder / source.name).write_text(f"open({str(sign)!r}, 'w').close()\n")


@pytest.mark.parametrize("kind", ["0777", "sticky", "link"])
def test_what_lies_in_a_cache_folder_of_everybody_is_not_even_opened(tmp_path, picture, kind):
    real, folder, sign = tmp_path / "real", tmp_path / "cache", tmp_path / "pwned"
    real.mkdir()
    real.chmod(0o1777 if kind == "sticky" else 0o777)
    folder.symlink_to(real) if kind == "link" else real.rename(folder)
    planted(folder, sign)
    before = sorted(path.name for path in folder.iterdir())
    places = ("REFEREE_CACHE_DIR", "XDG_CACHE_HOME")
    done = subprocess.run(
        [sys.executable, "-B", "-c", WATCHED, f"{folder}:{real}", "judge", str(picture), "--card", "L01", "--json"],
        env=os.environ | dict.fromkeys(places, str(folder)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0 and '"verdict"' in done.stdout, done.stderr
    assert "TOUCHED" not in done.stdout and not sign.exists()
    assert sorted(path.name for path in folder.iterdir()) == before


def test_the_watcher_sees_what_is_opened_there(tmp_path, picture):
    seen = [sys.executable, "-c", WATCHED, str(picture.parent), "judge", str(picture), "--card", "L01"]
    assert "TOUCHED open" in subprocess.run(seen, capture_output=True, text=True, timeout=120, check=True).stdout


def test_nothing_of_the_program_loads_objects_or_code_from_files():
    for path in [p for package in ("referee", "cards", "calibration") for p in (ROOT / package).rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not LOADERS & {name.split(".")[0] for name in names}, path
            assert not (isinstance(node, ast.keyword) and node.arg == "allow_pickle"), path
            assert not (isinstance(node, ast.Constant) and node.value == "REFEREE_CACHE_DIR"), path
