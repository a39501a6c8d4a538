"""The numbers of vision say what they are and where they come from, and each is used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.commands.bench import bench
from referee.vision import parameters
from referee.vision.parameters import Parameter

VISION = Path(parameters.__file__).parent
ALL = {name: value for name, value in vars(parameters).items() if isinstance(value, Parameter)}


@pytest.mark.parametrize("name", ALL)
def test_a_number_says_its_unit_its_source_and_is_used(name):
    parameter = ALL[name]
    assert parameter.unit and len(parameter.source) > 10
    used = [path for path in VISION.rglob("*.py") if path.name != "parameters.py" and name in path.read_text()]
    assert used, f"{name} is used nowhere"


def test_the_commands_that_fit_are_commands():
    """Every option of a command named as fitting a number is one of the bench's."""
    known = {option for parameter in bench.params for option in parameter.opts}
    for command in {p.refit for p in ALL.values() if p.refit} | {parameters.TRUST_COMMAND}:
        assert command.startswith("referee bench ")
        assert set(re.findall(r"--[a-z-]+", command)) <= known


@pytest.mark.parametrize("module", ["verdict/shading.py", "verdict/trust.py"])
def test_modules_whose_numbers_have_moved_keep_none_of_their_own(module):
    """Numbers at the top of a module belong to ``parameters``."""
    lines = (VISION / module).read_text().splitlines()
    assert [line for line in lines if re.match(r"[A-Z][A-Z_, ]* = .*(?<![A-Za-z_(/ -])[0-9]+\\.[0-9]", line)] == []
