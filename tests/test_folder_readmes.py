"""What the folders' READMEs show is so: their examples run, and the match's diagram is drawn from its table."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from referee.match.duel import diagram

REFEREE = Path(__file__).parents[1] / "referee"


@pytest.mark.parametrize("folder", ["journal", "devices"])
def test_the_examples_of_a_readme_run(folder):
    result = doctest.testfile(str(REFEREE / folder / "README.md"), module_relative=False, encoding="utf-8")
    assert result.attempted >= 5 and result.failed == 0


def test_the_matchs_readme_shows_the_whole_table_of_phases():
    text = (REFEREE / "match" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"```mermaid\n(.*?)\n```", text, re.S) == [diagram().strip()]
