"""Every command of the README and of the pages it leads to is run here, but for what a test cannot have."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import cv2
import pytest

from calibration.camera import camera_text
from cards.build import Build, parse_build
from cards.deck import builtin_deck
from cards.pieces import builtin_piece_set
from referee.match.verdict import build_to_json
from referee.simulator.build_plans import spread_set
from referee.simulator.meshes import place_piece
from referee.simulator.table import TableSim, World

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = re.findall(r"\]\((referee/\w+/README\.md)\)", README)
PIECES = builtin_piece_set()
REFEREE = [sys.executable, "-c", "from referee.cli import main; main()"]

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
    "referee run --camera 0 --box auto": "referee run --camera film.avi --box auto --no-browser --port 0",
    "referee run --rules house_rules.toml": (
        "referee run --rules house_rules.toml --camera film.avi --no-browser --port 0"
    ),
    "referee bench devset devset2 --stress --rows rows.jsonl": (
        "referee bench devset --stress --effects gray --every 2 --rows rows.jsonl"
    ),
    "referee bench devset devset2 --aids": "referee bench devset/den --aids",
    "referee bench devset --stress --every 20": "referee bench devset --stress --every 80",
    "referee box check": "referee box check --seconds 0.5",
    "referee box flash --port /dev/ttyACM0": "referee box flash --port no-such-port",
    "referee doctor": "referee doctor --camera film.avi --port 0",
    "referee rejudge referee-data/attempts": "referee rejudge referee-data/simulated/attempts",
    "referee attempts show referee-data/attempts": (
        "referee attempts show referee-data/simulated/attempts --no-browser --port 0"
    ),
    "referee verify referee-data/attempts --journal referee-data/journal.db": (
        "referee verify referee-data/simulated/attempts --journal referee-data/simulated/journal.db"
    ),
    "referee timeline referee-data/attempts": "referee timeline referee-data/simulated/attempts",
}
"""README's command -> the same without a browser, a webcam, or patience."""

STATUS = {"referee box check": 2, "referee box flash --port /dev/ttyACM0": 2}
"""No box is plugged in here, and that is what it must say."""


def commands():
    text = "\n".join([README, *((ROOT / page).read_text(encoding="utf-8") for page in dict.fromkeys(PAGES))])
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", text, re.M | re.S)
    lines = [line.split("#")[0].strip() for block in blocks for line in block.splitlines()]
    inline = re.findall(r"`(referee run --rules [^`]+)`", text)
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
    """What a user would have at hand: photographs, a piece set, a recording, house rules."""
    path = tmp_path_factory.mktemp("readme")
    table = TableSim(PIECES, 6, seating="across")
    card = builtin_deck().card("L01")
    standing = [place_piece(p) for p in spread_set(PIECES)]
    builds = {"A": card.pieces, "B": parse_build("blue cube 0 front @ 0 0 15")}
    cv2.imwrite(str(path / "photo.jpg"), table.picture(builds))
    cv2.imwrite(str(path / "colours.jpg"), table.render(World({"A": standing, "B": standing})))
    (path / "pieces.json").write_text(json.dumps(PIECES.to_json()))
    (path / "house_rules.toml").write_text("tie_window_ms = 10.0\n")
    _film(path / "film.avi", table)
    shutil.copyfile(ROOT / "tests" / "golden" / "attempt_collapse" / "video.mp4", path / "duel.mp4")
    for session in ("den", "hall", "attic"):
        _dev_set(path / "devset" / session, table, card)
    return path


def _film(path, table):
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 15, (1280, 720))
    for number in range(15):
        writer.write(table.empty(number))
    writer.release()


def _dev_set(path, table, card):
    path.mkdir(parents=True)
    cv2.imwrite(str(path / "duel_00.jpg"), table.picture({"A": card.pieces, "B": card.pieces[:1]}))
    standing = [place_piece(p) for p in spread_set(PIECES)]
    cv2.imwrite(str(path / "empty.jpg"), table.empty())
    cv2.imwrite(str(path / "colours.jpg"), table.render(World({"A": standing, "B": standing})))
    (path / "pieces.json").write_text(json.dumps(PIECES.to_json()))
    (path / "deck.json").write_text(json.dumps(builtin_deck().to_json()))
    (path / "camera.yaml").write_text(camera_text(table.lens.model()))
    zones = {"A": _truth("match", card.pieces), "B": _truth("mismatch", card.pieces[:1])}
    truth = {"frames": [{"image": "duel_00.jpg", "card": card.id, "zones": zones}]}
    (path / "truth.json").write_text(json.dumps(truth))


def _truth(expected, built):
    """A zone of a truth file as the contract's dev set writes it."""
    row = build_to_json(Build(PIECES, tuple(built)))
    pieces = [{**p, "yaw_deg": p["yaw"], "part_of": "build"} for p in row["pieces"]]
    return {**row, "expected": expected, "why": "", "pieces": pieces}


def _run(command, cwd):
    """(status, what it said); a program that would go on for ever is stopped politely once it serves."""
    process = subprocess.Popen(
        [*REFEREE, *shlex.split(command)[1:]], cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        if command.startswith(("referee run", "referee tournament run", "referee attempts show")):
            said = next(line for line in process.stdout if re.search(r"\b(board|hall|attempts):", line))
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
    tried = [command for command in commands() if command.startswith("referee bench") == benching]
    assert len(tried) >= (5 if benching else 30)
    for command in tried:
        status, said = _run(IN_TEST.get(command, command), folder)
        assert status == STATUS.get(command, 0), f"{command}\n{said}"
        assert "Traceback" not in said
