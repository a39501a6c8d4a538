"""CI runs the README's first two commands, whatever they are (see also ``session/test_readme.py``)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DEMO = """
import signal, sys
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
print("duel 1: over", flush=True)
signal.pause()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the demo's process under /proc")
def test_ci_runs_what_the_readme_says_and_ends_where_that_fails(tmp_path):
    for path in (".ci/run", "tests/readme.py"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    (tmp_path / "demo.py").write_text(DEMO)
    first, second = f"echo first >>ran && {sys.executable} demo.py", "echo second >>ran\nexit 7"
    (tmp_path / "README.md").write_text(f"A\n\n```sh\n{first}\n```\n\nB\n\n```sh\n{second}\n```\n")
    env = {**os.environ, "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])}
    done = subprocess.run(["sh", tmp_path / ".ci" / "run"], env=env, capture_output=True, text=True)
    assert done.returncode == 7, done.stderr
    assert (tmp_path / "ran").read_text().split() == ["first", "second"]
