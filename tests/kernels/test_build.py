"""How the compiled loops are built, and that those that run were made of the sources that lie here."""

from __future__ import annotations

import importlib
import json
import os
import platform
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import cv2
import pytest

from referee import cli, kernels
from referee.kernels.scene import BUILT_FROM
from referee.kernels.sources import AVX2_MODULES, built_from, check, compiled, digest

ROOT = Path(__file__).parents[2]
FOLDER = Path(kernels.__file__).parent


def test_the_loops_that_run_were_built_from_these_sources():
    assert digest(FOLDER) == BUILT_FROM == built_from()


def _placements(disabled: str) -> dict:
    """What ``placements.py`` says on a processor without these features."""
    program = [sys.executable, str(Path(__file__).with_name("placements.py"))]
    environment = {**os.environ, "OPENCV_CPU_DISABLE": disabled}
    return json.loads(subprocess.run(program, env=environment, check=True, capture_output=True).stdout)


def test_both_builds_of_the_hottest_modules_give_the_same_bits():
    """And the one for every processor runs where there is no AVX2."""
    plain, here = _placements("AVX2"), _placements("")
    twice = sys.platform == "linux" and platform.machine() == "x86_64" and cv2.checkHardwareSupport(kernels.AVX2)
    assert {Path(module).parent for module in plain["modules"]} == {FOLDER}
    assert {Path(module).parent for module in here["modules"]} == {FOLDER / "avx2" if twice else FOLDER}
    assert plain["bits"] == here["bits"]


@pytest.mark.parametrize("stale", ["scene", *AVX2_MODULES])
def test_every_module_that_may_be_built_apart_is_held_against_the_sources(monkeypatch, stale):
    monkeypatch.setattr(importlib.import_module(f"referee.kernels.{stale}"), "BUILT_FROM", 1)
    with pytest.raises(ImportError, match="have changed since they were built"):
        check(FOLDER, built_from())


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_only_x86_has_modules_built_twice(backend, tmp_path, monkeypatch, machine):
    monkeypatch.setattr(backend["sysconfig"], "get_platform", lambda: f"linux-{machine}")
    monkeypatch.setitem(sys.modules, "Cython.Build", SimpleNamespace(cythonize=lambda modules, **_: modules))
    names = [m.name for m in backend["_extensions"](str(tmp_path)) if "-mavx2" in m.extra_compile_args]
    assert names == ([f"referee.kernels.avx2.{name}" for name in AVX2_MODULES] if machine == "x86_64" else [])


def test_the_firmware_is_translated_to_cpp_and_linked_like_c(backend, tmp_path, monkeypatch):
    """By the driver for C++ Zig would build that language's library first: 50 processor seconds."""
    translated = {}

    def cythonize(modules, **_):
        translated.update((m.name, m.language) for m in modules)
        return modules

    monkeypatch.setitem(sys.modules, "Cython.Build", SimpleNamespace(cythonize=cythonize))
    linked = {m.name: m.language for m in backend["_extensions"](str(tmp_path))}
    assert [name for name, language in translated.items() if language == "c++"] == ["referee.kernels.button_box"]
    assert linked["referee.kernels.button_box"] == "c"


@pytest.mark.parametrize("changed", ["rasterizer.py", "scene.pxd", "columns.h"])
def test_loops_that_changed_since_they_were_built_are_refused_in_one_line(tmp_path, changed):
    copy = Path(shutil.copytree(FOLDER, tmp_path / "kernels"))
    check(copy, BUILT_FROM)
    with (copy / changed).open("a") as text:
        text.write("\n")
    with pytest.raises(ImportError, match=r"have changed since they were built; run: pip install -e \.$") as raised:
        check(copy, BUILT_FROM)
    assert "\n" not in str(raised.value)


def test_loops_that_are_not_built_are_refused_in_one_line():
    with pytest.raises(ImportError, match=r"are not built here; run: pip install -e \.$"):
        check(FOLDER, None)


def test_the_program_says_so_without_a_traceback(monkeypatch, capsys):
    def refused(**_):
        check(FOLDER, None)

    monkeypatch.setattr(cli, "cli", refused)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr().err.splitlines()
    assert ended.value.code == 2 and len(said) == 1 and said[0].endswith("run: pip install -e .")


def test_every_compiled_module_says_its_law_and_has_no_way_to_wander_off():
    """Compiled without checks of bounds: whatever is indexed by a negative number would read elsewhere."""
    for path in compiled(FOLDER):
        text = path.read_text()
        assert text.startswith('"""'), path.name
        assert not re.search(r"\[-\d", text), path.name


@pytest.fixture
def backend(monkeypatch):
    monkeypatch.chdir(ROOT)
    return runpy.run_path(str(ROOT / ".build" / "backend.py"))


def _machine(folder, monkeypatch, *programs):
    """A machine with these programs alone."""
    for name in programs:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    for variable in ("CC", "CXX", "LDSHARED", "LDCXXSHARED"):
        monkeypatch.delenv(variable, raising=False)


def test_a_wheel_is_named_after_the_commit_it_is_built_from(backend, tmp_path, monkeypatch):
    head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert backend["_wheels"].local_version().removesuffix(".dirty") == f"+g{head.stdout.strip()}"
    assert backend["_backend"].local_version() == ""  # an editable installation outlives the commit
    monkeypatch.chdir(tmp_path)
    assert backend["_wheels"].local_version() == ""
    (tmp_path / ".git").mkdir()
    assert backend["_wheels"].local_version() == ""


@pytest.mark.parametrize("programs", [["gcc", "g++"], ["clang", "clang++"], ["cc", "c++", "clang"]])
def test_a_machine_with_a_compiler_of_its_own_fetches_none(backend, tmp_path, monkeypatch, programs):
    _machine(tmp_path, monkeypatch, *programs)
    assert backend["get_requires_for_build_wheel"]() == []
    assert backend["get_requires_for_build_editable"]() == []


@pytest.mark.parametrize("programs", [[], ["gcc"], ["clang++"]])
def test_a_machine_that_lacks_a_compiler_fetches_both_and_builds_with_them(backend, tmp_path, monkeypatch, programs):
    _machine(tmp_path, monkeypatch, *programs)
    assert [need.partition(">=")[0] for need in backend["get_requires_for_build_wheel"]()] == ["ziglang"]
    backend["_choose_compilers"]()
    environment = backend["os"].environ
    for variable, language in (("CC", "cc"), ("CXX", "c++"), ("LDSHARED", "cc")):
        assert environment[variable].startswith(f"{sys.executable} -m ziglang {language} ")


def test_a_build_that_fails_says_in_one_line_what_to_install(backend, tmp_path, monkeypatch):
    (tmp_path / "gcc").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "gcc").chmod(0o755)
    monkeypatch.setenv("CC", str(tmp_path / "gcc"))
    monkeypatch.setattr(sys, "argv", ["setup.py", "bdist_wheel"])
    monkeypatch.setitem(backend["_Backend"].run_setup.__globals__, "_extensions", lambda scratch: 1 / 0)
    with pytest.raises(
        SystemExit, match=r"install a C and C\+\+ compiler \(gcc and g\+\+, clang, or Visual Studio's Build Tools\)"
    ) as raised:
        backend["_backend"].run_setup()
    assert "\n" not in str(raised.value)
