"""``referee rejudge --scheduler`` on a real Dask cluster of two workers, one of them killed on the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COUNT = 30


def dask(*words):
    return subprocess.Popen([sys.executable, "-m", "dask", *map(str, words)], stderr=subprocess.DEVNULL)


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """A scheduler and two workers as processes; gives its address and the workers."""
    monkeypatch.setenv("PYTHONPATH", f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("FAKE_EYE_LOG", str(tmp_path / "looks.txt"))
    monkeypatch.setenv("FAKE_EYE_SLEEP", "0.1")
    card = tmp_path / "scheduler.json"
    scheduler = dask("scheduler", "--host", "127.0.0.1", "--port", 0, "--scheduler-file", card, "--no-dashboard")
    workers = [
        dask(
            "worker",
            "--scheduler-file",
            card,
            "--nthreads",
            1,
            "--no-nanny",
            "--no-dashboard",
            "--local-directory",
            tmp_path / f"worker{n}",
        )
        for n in range(2)
    ]
    wait_for(card.exists)
    address = json.loads(card.read_text())["address"]
    both = f"from distributed import Client; Client({address!r}).wait_for_workers(2, timeout=60)"
    subprocess.run([sys.executable, "-c", both], check=True)
    yield address, workers
    for process in [*workers, scheduler]:
        process.kill()
        process.wait()


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def rejudge(archive, out, *more):
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from referee.cli import main; main()",
            "rejudge",
            archive,
            "--eye",
            "fake_eye:look",
            "-o",
            out,
            *more,
        ],
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.slow
def test_a_cluster_gives_the_local_report_also_when_a_worker_is_killed(kit, tmp_path, cluster):
    address, workers = cluster
    for n in range(COUNT):
        kit.make_attempt(tmp_path / "archive" / f"M1-{n:03d}", n)
    with rejudge(tmp_path / "archive", tmp_path / "cluster", "--scheduler", address) as running:
        results = tmp_path / "cluster" / "results.jsonl"
        wait_for(lambda: results.exists() and len(results.read_text().splitlines()) > 4)
        workers[0].kill()
        assert running.wait(timeout=60) == 0
    with rejudge(tmp_path / "archive", tmp_path / "local") as running:
        assert running.wait(timeout=60) == 0
    assert report(tmp_path / "cluster") == report(tmp_path / "local")
    looked = [line.split() for line in (tmp_path / "looks.txt").read_text().splitlines()]
    assert len({pid for _, pid in looked[:COUNT]}) == 2
    assert report(tmp_path / "local")["changed"] == 3


def report(folder):
    found = json.loads((folder / "report.json").read_text())
    return found | {"changes": [{**row, "seconds": 0} for row in found["changes"]]}


@pytest.mark.slow
def test_an_address_where_nobody_listens_is_one_clear_line(kit, tmp_path):
    kit.make_attempt(tmp_path / "archive" / "M1-000")
    command = [
        sys.executable,
        "-c",
        "from referee.cli import main; main()",
        "rejudge",
        str(tmp_path / "archive"),
        "--scheduler",
        "tcp://127.0.0.1:9",
        "-o",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "--scheduler tcp://127.0.0.1:9" in done.stderr.splitlines()[-1]
