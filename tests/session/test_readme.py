"""Every command of the README and of the pages it leads to is run here, but for what a test cannot have."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import cv2
import pytest
from posed_table import PosedTable

from cards.pieces import builtin_piece_set

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = re.findall(r"\]\((referee/\w+/README\.md)\)", README)
DROP = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
MAY_DROP = os.geteuid() == 0 and shutil.which("setpriv") and not subprocess.run([*DROP, "true"], check=False).returncode
PLAIN = DROP if MAY_DROP else []
"""Before a program: it may no more than a plain user, though root has started it."""

REFEREE = [*PLAIN, sys.executable, "-c", "from referee.cli import main; main()"]

IN_TEST = {
    "referee demo": "referee demo --fast --duels 1 --no-browser --port 0",
    "referee demo --game city_towers": "referee demo --game city_towers --fast",
    "referee demo --tables 4": "referee demo --tables 2 --fast --players 4 --headless",
    "referee tournament run --auto -j referee-data/cup.db": (
        "referee tournament run --auto --port 0 -j referee-data/cup.db"
    ),
    "referee run --camera 0 --journal referee-data/cup.db --table T1 --tournament": (
        "referee run --camera film.avi --journal referee-data/cup.db --table T1 --tournament --no-browser --port 0"
    ),
    "referee run --camera 0 --box none --players Ann,Ben,Cem,Dia": (
        "referee run --camera film.avi --box none --players Ann,Ben,Cem,Dia --no-browser --port 0"
    ),
    "referee run --camera 0 --deck challenge80b": (
        "referee run --camera film.avi --deck challenge80b --no-browser --port 0"
    ),
    "referee practice --camera 0": "referee practice --camera film.avi --no-browser --port 0",
    "referee prove --camera 0": "referee prove --camera film.avi --no-browser --port 0",
    "referee prove --simulated": "referee prove --simulated --fast --builds 2 --no-browser --port 0",
    "referee run --camera 0 --box auto": "referee run --camera film.avi --box auto --no-browser --port 0",
    "referee run --rules house_rules.toml": (
        "referee run --rules house_rules.toml --camera film.avi --no-browser --port 0"
    ),
    "referee bench example/sessions --stress --rows rows.jsonl": (
        "referee bench example/sessions --stress --effects gray --every 2 --rows rows.jsonl"
    ),
    "referee bench example/sessions --aids": "referee bench example/sessions --aids --every 3",
    "referee bench example/sessions --stress --every 20": "referee bench example/sessions --stress --every 80",
    "referee box check": "referee box check --seconds 0.5",
    "referee box flash --port /dev/ttyACM0": "referee box flash --port no-such-port",
    "referee doctor": "referee doctor --camera film.avi",
    "referee attempts show referee-data/simulated/attempts": (
        "referee attempts show referee-data/simulated/attempts --no-browser --port 0"
    ),
}
"""README's command -> the same without a browser, a webcam, or patience."""

EXAMPLE = "referee example"

STATUS = {"referee box check": 2, "referee box flash --port /dev/ttyACM0": 2}
"""No box is plugged in here, and that is what it must say."""


SERVING = (
    "referee run",
    "referee practice",
    "referee prove --camera",
    "referee tournament run",
    "referee attempts show",
)
"""Commands that go on until they are interrupted."""


def commands():
    text = "\n".join([README, *((ROOT / page).read_text(encoding="utf-8") for page in dict.fromkeys(PAGES))])
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", text, re.M | re.S)
    lines = [line.split("#")[0].strip() for block in blocks for line in block.splitlines()]
    inline = re.findall(r"`(referee (?:run --rules|practice|prove) [^`]+)`", text)
    found = [part.removeprefix(".venv/bin/") for line in lines for part in line.split(" && ") if part]
    return [c for c in found if c.startswith("referee")] + inline


def test_the_readme_shows_its_two_commands_on_the_first_screen():
    first = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:32]
    assert "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/referee demo" in first
    assert "tests/run" in first
    picture = re.search(r"!\[[^]]+\]\(([^)]+)\)", "\n".join(first))[1]
    assert (ROOT / picture).stat().st_size > 20_000


def test_ci_runs_the_two_commands_as_they_stand_in_the_readme():
    """Cut out, in order, and nothing of them retyped beside it."""
    shown = [_shown(n) for n in (1, 2)]
    assert shown[0].endswith("referee demo") and all(f"```sh\n{command}\n```" in README for command in shown)
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    first, second = (script.index(f'"$(python3 tests/readme.py show {n})"') for n in (1, 2))
    assert first < second
    assert not re.search(r"^[^#]*(pip install|referee demo|tests/run)", script, re.M)


def _shown(number):
    program = [sys.executable, ROOT / "tests" / "readme.py", "show", str(number)]
    return subprocess.run(program, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What a user has at hand who did as the pages say first: the example; a rig's film for a webcam, house rules."""
    path = tmp_path_factory.mktemp("readme")
    assert EXAMPLE in commands() and _run(EXAMPLE, path)[0] == 0
    (path / "house_rules.toml").write_text("tie_window_ms = 10.0\n")
    _film(path / "film.avi", PosedTable(builtin_piece_set(), 6, seating="across"))
    return path


def _film(path, table):
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 15, (1280, 720))
    for number in range(15):
        writer.write(table.empty(number))
    writer.release()


def _run(command, cwd):
    """(status, what it said); a program that would go on for ever is stopped politely once it serves."""
    process = subprocess.Popen(
        [*REFEREE, *shlex.split(command)[1:]], cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        if command.startswith(SERVING):
            said = next(line for line in process.stdout if re.search(r"\b(board|hall|attempts|practice):", line))
            process.send_signal(signal.SIGINT)
            return process.wait(300), said
        return _finished(process)
    finally:
        process.kill()
        process.communicate()


def _finished(process):
    said, _ = process.communicate(timeout=1800)
    return process.returncode, said


@pytest.mark.slow
@pytest.mark.parametrize("benching", [True, False], ids=["benches", "others"])
def test_every_command_of_the_readme_works(folder, benching):
    """Benches take long and need nothing of the others: they are tried beside them, by another process."""
    tried = [c for c in commands() if c.startswith("referee bench") == benching and c != EXAMPLE]
    assert len(tried) >= (4 if benching else 30)
    for command in tried:
        status, said = _run(IN_TEST.get(command, command), folder)
        assert status == STATUS.get(command, 0), f"{command}\n{said}"
        assert "Traceback" not in said
