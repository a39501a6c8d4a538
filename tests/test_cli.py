"""The list of commands, shown without loading any of them; the version; the example that comes with the program."""

import errno
import shutil
import subprocess
import sys
from importlib import metadata

import click
import pytest
from click.testing import CliRunner

from referee import cli as program
from referee.benchmark.run import sessions
from referee.cli import COMMANDS, cli


@pytest.mark.parametrize("name", COMMANDS)
def test_a_commands_line_in_the_list_is_what_it_says_itself(name):
    own = " ".join(cli.get_command(click.Context(cli), name).help.split("\n\n")[0].split())
    words = [word.strip(".;,") for word in COMMANDS[name][1].split()]
    rest = iter(own.replace("(", "").split())
    assert all(any(word == said.strip(".;,") for said in rest) for word in words), own


@pytest.mark.parametrize("command", ["", "judge", "calibrate", "bench"])
def test_help_loads_no_library_that_sees(command):
    asked = [*command.split(), "--help"]
    program = f"import sys; from referee.cli import cli; cli({asked}, standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "--help" in done.stdout
    assert not {"numpy", "cv2", "scipy", "skimage", "referee.vision", "sqlalchemy", "flask"} & set(done.stdout.split())


def test_judging_loads_neither_scipys_optimisers_nor_the_dashboard_before_they_are_used():
    program = "import sys, referee.commands.judging; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not {"scipy.optimize", "sqlalchemy", "flask", "reportlab", "av"} & loaded
    # Two threads that each load one of these, which need one another, find it half loaded.
    assert {"scipy.special", "skimage.measure._regionprops", "skimage.morphology"} <= loaded


def test_a_command_loads_nothing_that_prints_or_pairs_and_looks_for_no_garbage_meanwhile():
    load = "old = gc.get_stats(); cli.get_command(click.Context(cli), 'tournament'); print(gc.get_stats() == old)"
    program = f"import click, gc, sys; from referee.cli import cli; {load}; print(gc.isenabled(), *sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    unsearched, enabled, *loaded = done.stdout.split()
    assert (unsearched, enabled) == ("True", "True") and "referee.tournament.pairing" in loaded
    assert not {"reportlab", "networkx"} & set(loaded)


def _git(folder, *words):
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_the_version_of_a_checkout_names_its_commit_and_says_when_files_were_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(program, "__file__", str(tmp_path / "referee" / "cli.py"))
    (tmp_path / "referee").mkdir()
    (tmp_path / "referee" / "cli.py").write_text("")
    known = metadata.version("referee").partition("+")[0]
    assert program.build_version() == metadata.version("referee")
    _git(tmp_path, "init", "-q")
    assert program.build_version() == metadata.version("referee")  # nothing committed: no traceback
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-qm", "one")
    assert program.build_version() == f"{known}+g{_git(tmp_path, 'rev-parse', '--short', 'HEAD')}"
    (tmp_path / "referee" / "cli.py").write_text("pass\n")
    assert program.build_version().endswith(".dirty")
    monkeypatch.setenv("PATH", "")
    said = CliRunner().invoke(cli, ["--version"])
    assert said.exit_code == 0 and said.output == f"referee, version {metadata.version('referee')}\n"


def test_the_example_is_small_and_written_once(tmp_path):
    folder = tmp_path / "try"
    assert CliRunner().invoke(cli, ["example", str(folder)]).exit_code == 0
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 2_000_000
    assert len(sessions([folder / "sessions"])) == 2 and (folder / "duel" / "video.mp4").exists()
    again = CliRunner().invoke(cli, ["example", str(folder)])
    assert again.exit_code == 1 and str(again.exception) == f"{folder}: Directory not empty"
    assert sorted(tmp_path.iterdir()) == [folder]


def test_an_example_that_a_full_disk_cuts_short_leaves_nothing(tmp_path, monkeypatch):
    def full(_, target):
        target.mkdir()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copytree", full)
    cut = CliRunner().invoke(cli, ["example", str(tmp_path / "try")])
    assert cut.exit_code == 1 and str(cut.exception) == f"{tmp_path / 'try'}: No space left on device"
    assert list(tmp_path.iterdir()) == []
