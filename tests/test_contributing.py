"""CONTRIBUTING.md cannot lie: its map is the contract's, its recipe works, its links lead somewhere."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from contributing import GUIDE, MAP, ROOT, drawn, steps

GUIDE_TEXT = (ROOT / GUIDE).read_text(encoding="utf-8")
FLAT = {"id": "F2", "kind": "flat", "value": 1, "count": 2}
TRY = """
import json, sys
from cards.build import Build
from cards.kinds import parse_card
from cards.pieces import builtin_piece_set

card, pieces = parse_card(json.loads(sys.argv[1])), builtin_piece_set()
assert card.to_json() == json.loads(sys.argv[1])
assert card.faults(Build(pieces, card.example(pieces))) == ()
assert card.picture(pieces)
"""


def test_the_map_is_the_import_contracts():
    assert MAP.search(GUIDE_TEXT)[0] == drawn(), "python tests/contributing.py draws it anew"


def test_every_link_leads_somewhere():
    links = re.findall(r"\]\((\.\./[^)]+)\)", GUIDE_TEXT)
    assert len(links) > 5
    assert [link for link in links if not (ROOT / GUIDE.parent / link).exists()] == []


def test_a_step_that_fits_no_line_or_two_is_an_error(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('"x": 1,\n', encoding="utf-8")
    (step,) = steps('In `a.json`, before `"y"`:\n\n```json\n"w": 2,\n```')
    with pytest.raises(ValueError, match="0 lines begin"):
        step.take(tmp_path)
    path.write_text('"y": 1,\n"y": 3,\n', encoding="utf-8")
    with pytest.raises(ValueError, match="2 lines begin"):
        step.take(tmp_path)


@pytest.mark.slow
def test_the_recipe_for_a_card_kind_works_on_a_copy_of_the_tree(tmp_path):
    for name in ("cards", "calibration", "referee", "tests/match", "tests/web/test_reasons.py", "pyproject.toml"):
        copied = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        copied(ROOT / name, tmp_path / name)
    before = _run(tmp_path, "-c", TRY, json.dumps(FLAT))
    assert before.returncode and "kind" in before.stderr
    for step in steps(GUIDE_TEXT):
        step.take(tmp_path)
    made = _run(tmp_path, "-c", TRY, json.dumps(FLAT))
    assert made.returncode == 0, made.stderr
    tests = ["tests/match/test_judge.py", "tests/web/test_reasons.py"]
    done = _run(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout


def _run(root: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Python in the copy, which is imported before anything that is installed."""
    environment = os.environ | {"PYTHONPATH": str(root)}
    return subprocess.run([sys.executable, *arguments], cwd=root, env=environment, capture_output=True, text=True)
