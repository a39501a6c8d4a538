"""The machine code that comes with the program: of these sources, used where it fits, and nowhere else."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from referee.commands.preparing import _all_ways
from referee.vision.search import shipped
from referee.vision.search.content import read_entry, write_entry
from referee.vision.search.jit import Kernel, plain
from referee.vision.search.machine_code import described

AGAIN = "kernels changed: run `python -m referee.commands.shipping` and commit referee/vision/search/kernels.zip"
SESSION = Path(__file__).parents[1] / "golden" / "sessions" / "challenge"
JUDGES = """
import sys
from referee.cli import main
code = 0
try:
    main()
except SystemExit as end:
    code = end.code
print("ended with", code, "numba" in sys.modules)
"""


@pytest.fixture
def pack(tmp_path, monkeypatch):
    """A function that has another pack used: of what it makes of the index."""

    def use(change, raw=None):
        path = tmp_path / "other.zip"
        with zipfile.ZipFile(shipped.PACK) as old, zipfile.ZipFile(path, "w") as new:
            for name in old.namelist():
                data = old.read(name)
                new.writestr(name, json.dumps(change(json.loads(data))) if name == shipped.INDEX else data)
        if raw is not None:
            path.write_bytes(raw(path.read_bytes()))
        monkeypatch.setattr(shipped, "PACK", path)
        shipped._index.cache_clear()

    yield use
    monkeypatch.undo()
    shipped._index.cache_clear()


def _there() -> set[str]:
    return {way.kernel.name for way in _all_ways()[0] if shipped.is_there(way.kernel, way.examples)}


def test_the_pack_is_of_these_sources():
    with zipfile.ZipFile(shipped.PACK) as file:
        index = json.loads(file.read(shipped.INDEX))
    by_name = {kernel.name: kernel for kernel in Kernel.kernels}
    ways = {(way.kernel.name, json.dumps([described(each) for each in way.examples])) for way in _all_ways()[0]}
    assert {each["kernel"]: each["digest"] for each in index} == {
        each["kernel"]: shipped.digest_of(by_name[each["kernel"]]) for each in index if each["kernel"] in by_name
    }, AGAIN
    assert ways <= {(each["kernel"], json.dumps(each["parameters"])) for each in index}, AGAIN


def test_a_kernel_that_has_changed_is_compiled(pack):
    changed = _all_ways()[0][0].kernel.name

    def change(index):
        return [each | {"digest": "0" * 32} if each["kernel"] == changed else each for each in index]

    before = _there()
    pack(change)
    assert before - _there() == {changed}


def test_another_processor_compiles(pack, monkeypatch):
    pack(lambda index: index)
    monkeypatch.setattr(shipped, "FEATURES", [*shipped.FEATURES, "no-such-feature"])
    assert not _there()


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[: len(data) // 2], lambda data: b"PK" * 99])
def test_a_broken_pack_is_no_pack(pack, damage):
    pack(lambda index: index, damage)
    assert not _there()


def test_a_missing_pack_is_no_pack(pack, monkeypatch):
    pack(lambda index: index)
    monkeypatch.setattr(shipped, "PACK", shipped.PACK.with_name("nowhere.zip"))
    assert not _there()


def test_what_differs_in_words_alone_is_the_same_kernel_and_what_differs_in_a_number_is_not():
    @plain
    def one(x):
        """Says something."""
        # and explains it

        return x + 1

    @plain
    def other(x):
        """Says something else."""
        return x + 1

    @plain
    def different(x):
        return x + 2

    bodies = [shipped._body(each).replace(each.py_func.__name__, "f") for each in (one, other, different)]
    assert bodies[0] == bodies[1] != bodies[2]


@pytest.fixture
def judged(tmp_path):
    """A function that judges a picture in a program of its own, its cache in a folder: the lines that it prints."""

    def judge():
        given = [word for what in ("pieces", "deck") for word in (f"--{what}", SESSION / f"{what}.json")]
        frame = json.loads((SESSION / "truth.json").read_text())["frames"][0]
        words = [SESSION / frame["image"], "--card", frame["card"], *given, "--camera", SESSION / "camera.yaml"]
        env = {name: value for name, value in os.environ.items() if name != shipped.COMPILE_VARIABLE}
        done = subprocess.run(
            list(map(str, [sys.executable, "-c", JUDGES, "judge", *words])),
            env=env | {"REFEREE_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return judge


def test_a_first_start_judges_without_a_compiler(judged, tmp_path):
    lines = judged()
    assert lines[-1] == "ended with 0 False"
    assert {path.suffix for path in tmp_path.iterdir()} == {".machine", ".loaded"}


def test_what_the_last_judgement_needed_is_loaded_ahead_where_it_is_sound(judged, tmp_path):
    first, ahead = judged(), tmp_path / "judge.loaded"
    needed = read_entry(ahead).decode().split()
    assert needed and {f"{entry}.machine" for entry in needed} <= {path.name for path in tmp_path.glob("*.machine")}
    shutil.copy(tmp_path / f"{needed[1]}.machine", tmp_path / "of-other-sources.machine")
    (tmp_path / f"{needed[0]}.machine").write_bytes(b"not what was written")
    write_entry(ahead, "\n".join(["no-such-entry", "of-other-sources", *needed]).encode())
    assert judged()[1:] == first[1:], "all but the seconds"
    assert set(read_entry(ahead).decode().split()) == set(needed), "what was loaded in vain is not loaded again"
    ahead.write_bytes(b"torn")
    assert judged()[1:] == first[1:]
    assert set(read_entry(ahead).decode().split()) == set(needed)
