"""What the folders' READMEs show is so: their examples run."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

REFEREE = Path(__file__).parents[1] / "referee"


@pytest.mark.parametrize("folder", ["journal", "devices"])
def test_the_examples_of_a_readme_run(folder):
    result = doctest.testfile(str(REFEREE / folder / "README.md"), module_relative=False, encoding="utf-8")
    assert result.attempted >= 5 and result.failed == 0
