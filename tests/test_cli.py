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


def test_help_loads_no_library_that_sees():
    program = "import sys; from referee.cli import cli; cli(['--help'], standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"numpy", "cv2", "scipy", "sqlalchemy", "flask"} & set(done.stdout.split())


def test_judging_loads_neither_scipy_nor_the_dashboard():
    program = "import sys, referee.commands.vision; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"scipy.optimize", "scipy.linalg", "sqlalchemy", "flask", "reportlab", "av"} & set(done.stdout.split())
