"""Judging again: the right changes and no others, nothing twice, nothing recorded altered."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from referee.cli import cli
from referee.recording import load_attempt
from referee.recording.address import AttemptSource
from referee.recording.folder import REVIEW, append_line, hash_files, pack
from referee.review.batch import RESULTS, Results, rejudge
from referee.review.options import RejudgeOptions, code_fingerprint, task_key
from referee.review.rejudge import judge_again
from referee.review.report import write_report

HERE = Path(__file__).parent
EYE = "fake_eye:look"
HANGS_S = 300.0
"""What has not happened by then never will, however busy the machine is."""


@pytest.fixture
def eye(tmp_path, monkeypatch):
    """The fake eye, importable here and in every process started from here; gives its log."""
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("PYTHONPATH", f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("FAKE_EYE_LOG", str(tmp_path / "looks.txt"))
    return tmp_path / "looks.txt"


def archive(kit, root, count):
    return [kit.make_attempt(root / f"M1-{n:03d}", n) for n in range(count)]


def run(*words):
    result = CliRunner().invoke(cli, ["rejudge", *map(str, words)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_a_seeded_change_is_found_and_nothing_else(kit, tmp_path, eye):
    folders = archive(kit, tmp_path / "archive", 25)
    before = {f: hash_files(f) for f in folders}
    rows = rejudge(folders, RejudgeOptions(eye=EYE), tmp_path / "out", jobs=2)
    found = write_report(rows, tmp_path / "out")
    assert [r["attempt"] for r in found["changes"]] == ["M1-003", "M1-013", "M1-023"]
    assert found["awards_moved"] == 3
    assert found["standings"] == {
        "M1": [{"player": "Ann", "was": 50, "now": 44}, {"player": "Ben", "was": 0, "now": 6}]
    }
    page = (tmp_path / "out" / "report.html").read_text()
    assert "a seeded change" in page and (tmp_path / "out" / "pictures" / "M1-003.jpg").exists()
    assert {f: hash_files(f) for f in folders} == before


def test_one_process_and_two_agree(kit, tmp_path, eye):
    folders = archive(kit, tmp_path / "archive", 12)
    one = rejudge(folders, RejudgeOptions(eye=EYE), tmp_path / "one", jobs=1)
    two = rejudge(folders, RejudgeOptions(eye=EYE), tmp_path / "two", jobs=2)
    assert [{**r, "seconds": 0} for r in one] == [{**r, "seconds": 0} for r in two]
    assert len(eye.read_text().splitlines()) == 24
    assert str(os.getpid()) not in {line.split()[1] for line in eye.read_text().splitlines()[12:]}


def test_what_is_done_is_not_done_again(kit, tmp_path, eye):
    folders = archive(kit, tmp_path / "archive", 10)
    rejudge(folders[:6], RejudgeOptions(eye=EYE), tmp_path / "out", jobs=1)
    rows = rejudge(folders, RejudgeOptions(eye=EYE), tmp_path / "out", jobs=1)
    assert [r["attempt"] for r in rows] == [f.name for f in folders]
    assert len(eye.read_text().splitlines()) == 10


@pytest.mark.parametrize(
    ("changed", "options"),
    [
        ("palette.json", {"palette": "palette.json"}),
        ("rules.toml", {"rules": "rules.toml"}),
        ("deck.json", {"deck": "deck.json"}),
        ("archive/M1-000/stop.png", {}),
        ("archive/M1-000/camera.yaml", {}),
        ("archive/M1-000/attempt.json", {}),
        ("seeing.py", {"eye": "seeing:look"}),
    ],
)
def test_results_are_stale_once_anything_that_made_them_has_changed(kit, tmp_path, monkeypatch, changed, options):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    folder = kit.make_attempt(tmp_path / "archive" / "M1-000")
    if not (tmp_path / changed).exists():
        (tmp_path / changed).write_text("# one\n")

    def key():
        chosen = RejudgeOptions(**options)
        return task_key(AttemptSource(str(folder)), chosen, chosen.fingerprint())

    before = key()
    assert key() == before
    with open(tmp_path / changed, "ab") as file:
        file.write(b" \n")
    assert key() != before


@pytest.mark.parametrize(
    "place",
    [
        "referee/vision/search/readings.py",
        "referee/kernels/beam.py",
        "referee/kernels/beam.pxd",
        "referee/kernels/columns.h",
        "cards/kinds/layout.py",
        "referee/review/placements.py",
        "referee/recording/video.py",
    ],
)
def test_a_change_of_the_judging_code_makes_results_stale(place, monkeypatch):
    before = code_fingerprint.__wrapped__()
    changed = Path(sys.modules["referee"].__file__).parents[1] / place
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * (path == changed))
    assert code_fingerprint.__wrapped__() != before


def test_a_picture_that_is_not_the_recorded_one_is_not_judged(kit, tmp_path, eye):
    folder = kit.make_attempt(tmp_path / "M1-001", 1, hashes={"stop.png": "0" * 64})
    row = judge_again(AttemptSource(str(folder)), RejudgeOptions(eye=EYE))
    assert row["problem"] == f"{folder}: stop.png is not the file that was recorded"
    assert eye.exists() is False


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_job_is_one_core_whatever_vision_starts(kit, tmp_path, eye, jobs):
    folders = archive(kit, tmp_path / "archive", 8)
    before = os.sched_getaffinity(0)
    rejudge(folders, RejudgeOptions(eye="fake_eye:look_at_cores"), tmp_path / "out", jobs=jobs)
    cores = {line.split()[1]: line.split()[2:] for line in eye.read_text().splitlines()}
    assert all(len(its) == 1 for its in cores.values())
    assert len(cores) <= jobs and len({its[0] for its in cores.values()}) == len(cores)
    assert os.sched_getaffinity(0) == before


def test_a_killed_run_goes_on_where_it_was(kit, tmp_path, eye, monkeypatch):
    archive(kit, tmp_path / "archive", 40)
    out = tmp_path / "out"
    command = program(tmp_path / "archive", "-o", out, "-j", 2)
    monkeypatch.setenv("FAKE_EYE_GATE", str(tmp_path / "gate"))
    with subprocess.Popen(command) as running:
        wait_for(lambda: len(judged(out)) >= 8)
        running.send_signal(signal.SIGKILL)
    workers = {int(line.split()[1]) for line in eye.read_text().splitlines()}
    wait_for(lambda: all(map(has_ended, workers)))  # what was in flight in them ends with them
    done, looks = len(judged(out)), len(eye.read_text().splitlines())
    assert 8 <= done < 40
    assert looks - done <= 6  # a result that never reached the disk; the pool hands out a few ahead
    (tmp_path / "gate").touch()
    subprocess.run(command, check=True)
    assert len(judged(out)) == len(set(judged(out))) == 40
    assert len(eye.read_text().splitlines()) == looks + 40 - done


@pytest.fixture
def heard():
    """Programs started here hear Ctrl-C, also where the tests run in a shell's background and so were made deaf."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(kit, tmp_path, eye, monkeypatch):
    archive(kit, tmp_path / "archive", 40)
    monkeypatch.setenv("FAKE_EYE_SLEEP", "0.3")
    monkeypatch.setenv("FAKE_EYE_GATE", str(tmp_path / "gate"))
    command = program(tmp_path / "archive", "-o", tmp_path / "out", "-j", 2)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        wait_for(lambda: len(judged(tmp_path / "out")) >= 8)  # on the disk: what was only looked at may be lost
        running.send_signal(signal.SIGINT)
        wait_for(lambda: has_heard(running.pid))
        (tmp_path / "gate").touch()
        said = running.communicate(timeout=HANGS_S)[1]
    assert running.returncode == 130
    assert "the same command goes on" in said and "Traceback" not in said
    assert 8 <= len(judged(tmp_path / "out")) < 40


def judged(out):
    """Names of the attempts whose results are on the disk."""
    if not (out / RESULTS).exists():
        return []
    results = Results(out)
    try:
        return [results.get(key)["attempt"] for key in results.done()]
    finally:
        results.close()


def program(*words):
    """The command line of ``referee rejudge`` with the fake eye."""
    return [sys.executable, "-c", "from referee.cli import main; main()", "rejudge", "--eye", EYE, *map(str, words)]


def wait_for(condition):
    end = time.monotonic() + HANGS_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def has_heard(number):
    """Whether no signal waits any more for a process."""
    rows = dict(line.split(":", 1) for line in Path(f"/proc/{number}/status").read_text().splitlines())
    return int(rows["ShdPnd"], 16) == int(rows["SigPnd"], 16) == 0


def has_ended(number):
    """Whether a process has; one that nobody has asked for its end keeps its number and no command."""
    try:
        return not Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return True


def test_another_deck_alone_needs_no_pixels(kit, tmp_path):
    for folder in archive(kit, tmp_path / "archive", 5):
        (folder / "stop.png").unlink()
    deck = json.loads(json.dumps(kit.DECK))
    deck["cards"][0]["count"] = 3
    (tmp_path / "deck.json").write_text(json.dumps(deck))
    result = run(tmp_path / "archive", "--deck", tmp_path / "deck.json", "-o", tmp_path / "out")
    assert result.exit_code == 0
    assert "5 attempts, 5 changed, 5 cards moved, 0 not judged" in result.output
    assert "A match -> mismatch  card to Ann -> Ben" in result.output


@pytest.mark.slow
def test_a_change_of_rules_is_applied_to_500_attempts(kit, tmp_path):
    first = kit.make_attempt(tmp_path / "archive" / "M1-000")
    for n in range(1, 500):
        shutil.copytree(first, first.with_name(f"M1-{n:03d}"))
    (tmp_path / "rules.toml").write_text('ground_contacts = "exactly_two"\n')
    result = run(tmp_path / "archive", "--rules", tmp_path / "rules.toml", "-o", tmp_path / "out")
    assert "500 attempts, 500 changed, 500 cards moved" in result.output


def test_a_humans_ruling_stands(kit, tmp_path, eye):
    folder = kit.make_attempt(
        tmp_path / "M1-003", 3, award="Ann", human=[{"zone": "A", "ruling": "match", "who": "Eve", "why": "I saw it"}]
    )
    row = judge_again(AttemptSource(str(folder)), RejudgeOptions(eye=EYE))
    assert row["zones"]["A"]["now"]["verdict"] == "mismatch"
    assert row["human"] and row["award_now"] == row["award_was"] == "Ann"


def test_what_cannot_be_judged_is_listed_and_stops_nothing(kit, tmp_path, eye):
    folders = archive(kit, tmp_path / "archive", 3)
    (folders[1] / "stop.png").write_bytes(b"not a picture")
    result = run(tmp_path / "archive", "-j", 1, "-o", tmp_path / "out", "--stored")
    assert "3 attempts, 0 changed" in result.output
    rows = rejudge(folders, RejudgeOptions(eye=EYE), tmp_path / "out", jobs=1)
    assert [bool(r["problem"]) for r in rows] == [False, True, False]
    assert "stop.png" in rows[1]["problem"]


def test_a_bundle_is_judged_elsewhere_with_the_same_pixels(kit, tmp_path, eye):
    folder = kit.make_attempt(tmp_path / "here" / "M1-007", 7)
    pack(load_attempt(folder), tmp_path / "M1-007.zip")
    here = judge_again(AttemptSource(str(folder)), RejudgeOptions(eye=EYE))
    result = run(tmp_path / "M1-007.zip", "--stored", "-o", tmp_path / "out")
    assert "1 attempts, 0 changed" in result.output
    shutil.unpack_archive(tmp_path / "M1-007.zip", tmp_path / "there")
    there = judge_again(AttemptSource(str(tmp_path / "there" / "M1-007")), RejudgeOptions(eye=EYE))
    assert there["pixels"] == here["pixels"] and there["zones"] == here["zones"]


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["nothing/here"], "neither an attempt nor an archive"),
        (["empty.zip"], "not a bundle"),
    ],
)
def test_bad_input_is_one_clear_line(tmp_path, monkeypatch, words, fault):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.zip").write_bytes(b"no zip")
    result = CliRunner().invoke(cli, ["rejudge", *words])
    assert fault in str(result.exception) and "\n" not in str(result.exception)


def test_a_disputed_call_becomes_a_case_with_the_humans_ruling(kit, tmp_path):
    folder = kit.make_attempt(tmp_path / "M1-003", 3)
    append_line(folder / REVIEW, {"kind": "ruling", "zone": "A", "ruling": "mismatch", "who": "Eve", "why": "leans"})
    result = CliRunner().invoke(cli, ["keep", str(folder), str(tmp_path / "golden")])
    case = tmp_path / "golden" / "M1-003"
    assert result.output.strip() == str(case)
    assert json.loads((case / "truth.json").read_text()) == {"card": "H02", "expected": {"A": "mismatch"}}
    assert (case / "stop.png").read_bytes() == (folder / "stop.png").read_bytes()
    again = CliRunner().invoke(cli, ["keep", str(folder), str(tmp_path / "golden")])
    assert "is there already" in str(again.exception)
