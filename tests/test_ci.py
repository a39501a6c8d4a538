"""CI runs the README's first two commands, whatever they are (see also ``session/test_readme.py``)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
DEMO = """
import signal, sys
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
print("duel 1: over", flush=True)
signal.pause()
"""


@pytest.fixture
def ci(tmp_path):
    """Runs ``.ci/run`` in a folder where the README's second command is the one given, and all else a stand-in."""

    def run(second: str, elsewhere: str) -> subprocess.CompletedProcess:
        for path in (".ci/run", "tests/readme.py"):
            (tmp_path / path).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / path, tmp_path / path)
        (tmp_path / ".venv" / "bin").mkdir(parents=True)
        for name in (".ci/lowest", ".ci/subjects", ".venv/bin/ruff", ".venv/bin/lint-imports", ".venv/bin/mypy"):
            (tmp_path / name).symlink_to(shutil.which("true"))
        (tmp_path / ".ci" / "elsewhere").write_text(f"#!/bin/sh\n{elsewhere}\n")
        (tmp_path / ".ci" / "elsewhere").chmod(0o755)
        (tmp_path / "demo.py").write_text(DEMO)
        first = f"echo first >>ran && {sys.executable} demo.py"
        (tmp_path / "README.md").write_text(f"A\n\n```sh\n{first}\n```\n\nB\n\n```sh\n{second}\n```\n")
        env = {**os.environ, "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])}
        return subprocess.run(["sh", tmp_path / ".ci" / "run"], env=env, capture_output=True, text=True)

    return run


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the demo's process under /proc")
def test_ci_runs_what_the_readme_says_and_ends_where_that_fails(ci, tmp_path):
    done = ci("echo second >>ran\nexit 7", elsewhere="true")
    assert done.returncode == 7, done.stderr
    assert (tmp_path / "ran").read_text().split() == ["first", "second"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the demo's process under /proc")
@pytest.mark.parametrize(("elsewhere", "fails"), [("echo there", False), ("echo there; exit 5", True)])
def test_ci_says_what_was_said_elsewhere_and_fails_where_that_failed(ci, elsewhere, fails):
    done = ci("true", elsewhere)
    assert "\nthere\n" in done.stdout and bool(done.returncode) is fails, done.stderr


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org", *words], cwd=folder, check=True)


@pytest.mark.parametrize(("subject", "fits"), [("x" * 72, True), ("ü" * 72, True), ("x" * 73, False)])
def test_ci_refuses_a_commit_whose_subject_is_too_long(tmp_path, subject, fits):
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", subject + "\n\n" + "y" * 100)
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "Say it in short")
    assert (subprocess.run([ROOT / ".ci" / "subjects"], cwd=tmp_path).returncode == 0) is fits
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{tmp_path}", "shallow")
    assert subprocess.run([ROOT / ".ci" / "subjects"], cwd=tmp_path / "shallow").returncode == 0


def test_what_the_host_reads_of_the_repository_is_sound():
    """Issue forms name what they ask for, and the workflow runs what must hold for every commit."""
    folder = ROOT / ".github"
    for form in sorted((folder / "ISSUE_TEMPLATE").glob("[!c]*.yml")):
        told = yaml.safe_load(form.read_text(encoding="utf-8"))
        assert {"name", "description", "body"} <= told.keys()
        assert all(part["id"] and part["attributes"]["label"] for part in told["body"])
    (job,) = yaml.safe_load((folder / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"].values()
    assert any(".ci/run" in step.get("run", "") for step in job["steps"])
