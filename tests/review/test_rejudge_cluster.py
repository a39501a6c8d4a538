"""``referee rejudge --scheduler`` on a real Dask cluster of two workers, one of them killed on the way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import fsspec
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from bench_rejudge import count_in

from referee.recording.address import attempt_sources
from referee.review.batch import rejudge as judge_all
from referee.review.options import RejudgeOptions
from referee.review.report import write_report

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
    wait_for(lambda: card.exists() and card.read_text().rstrip().endswith("}"))  # it is there before it is written
    address = json.loads(card.read_text())["address"]
    ready = f"c = Client({address!r}); c.wait_for_workers(2, timeout=60); c.run(__import__, 'referee.review.parcel')"
    both = f"from distributed import Client; {ready}"
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
        wait_for(lambda: count_in(tmp_path / "cluster") > 4)
        workers[0].kill()
        assert running.wait(timeout=60) == 0
    with rejudge(tmp_path / "archive", tmp_path / "local") as running:
        assert running.wait(timeout=60) == 0
    assert report(tmp_path / "cluster") == report(tmp_path / "local")
    looked = [line.split() for line in (tmp_path / "looks.txt").read_text().splitlines()]
    assert len({pid for _, pid in looked[:COUNT]}) == 2
    assert report(tmp_path / "local")["changed"] == 3


@pytest.mark.slow
def test_workers_that_share_no_disk_give_what_one_process_gives(kit, tmp_path, cluster, monkeypatch):
    """The archive is in the memory of this process alone, the deck and the palette in files of its own."""
    address, workers = cluster
    monkeypatch.syspath_prepend(str(HERE))
    for n in range(COUNT):
        kit.make_attempt(tmp_path / "archive" / f"M1-{n:03d}", n)
    memory = fsspec.filesystem("memory")
    for path in (tmp_path / "archive").rglob("*.*"):
        memory.pipe(f"/club/{path.relative_to(tmp_path / 'archive')}", path.read_bytes())
    shutil.rmtree(tmp_path / "archive")
    (tmp_path / "deck.json").write_text(json.dumps(kit.DECK))
    asked = RejudgeOptions(eye="fake_eye:look", deck=str(tmp_path / "deck.json"))
    every, killed = attempt_sources("memory://club", tmp_path), []

    def kill_one(done, total):
        looked = {line.split()[1] for line in (tmp_path / "looks.txt").read_text().splitlines()} if done else ()
        if len(looked) == 2 and not killed:
            workers[0].kill()
            killed.append(done)

    try:
        rows = judge_all(every, asked, tmp_path / "cluster", scheduler=address, progress=kill_one)
        one = judge_all(every, asked, tmp_path / "one", jobs=1)
        told = [write_report(rows, tmp_path / "cluster"), write_report(one, tmp_path / "one")]
        assert 0 < killed[0] < COUNT == len(every)
        assert [{**row, "seconds": 0} for row in rows] == [{**row, "seconds": 0} for row in one]
        assert [(found["changed"], found["problems"]) for found in told] == [(3, 0), (3, 0)]
    finally:
        memory.rm("/club", recursive=True)
    pids = {line.split()[1] for line in (tmp_path / "looks.txt").read_text().splitlines()}
    assert len(pids) == 3


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
