"""The list of commands, shown without loading any of them."""

import subprocess
import sys

import click
import pytest

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
    assert not {"scipy.optimize", "scipy.linalg", "sqlalchemy", "flask", "reportlab", "av"} & set(done.stdout.split())
