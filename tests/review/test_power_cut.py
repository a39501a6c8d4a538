"""A power cut leaves what was said to be whole: the program over a disk that keeps only what was synced.

What an older version or a disk that lies has left torn is called torn, and by nobody forged."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from calibration.camera import guessed_camera
from calibration.palette import nominal_palette
from cards.pieces import builtin_piece_set
from referee.cli import cli
from referee.devices.camera_settings import CameraSettings
from referee.recording import Budget, Recorder, load_attempt
from referee.recording.folder import META, TIMES, TORN, VIDEO, write_json
from referee.session.rig_setup import RigSetup
from referee.session.second_view import CameraView
from referee.web.base_app import kept_secret
from referee.web.logins import Logins
from referee.web.pages.evening import EveningStore


class Disk:
    """What a power cut leaves: of every file the content of its last ``os.fsync``, else nothing.

    ``names_by_themselves``: new names reach the disk at once, as in a file system that journals names and not content;
    else only with an fsync of their folder. At each fsync, before it counts, ``faults`` gets what a power cut at that
    moment would have left of a recording that says it is whole.
    """

    def __init__(self, root: Path, names_by_themselves: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        self._root, self._names_by_themselves, self._fsync = root, names_by_themselves, os.fsync
        self._content: dict[int, bytes] = {}
        self._names: dict[int, dict[str, int]] = {}
        self._held: list[int] = []  # so that no inode number comes again
        self.faults: set[str] = set()
        monkeypatch.setattr(os, "fsync", self._synced)

    def _synced(self, descriptor: int) -> None:
        self.cut()
        self._fsync(descriptor)
        about = os.fstat(descriptor)
        self._held.append(os.dup(descriptor))
        if stat.S_ISDIR(about.st_mode):
            names = os.listdir(descriptor)
            inodes = {name: os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_ino for name in names}
            self._names[about.st_ino] = inodes
        else:
            with open(f"/dev/fd/{descriptor}", "rb") as file:
                self._content[about.st_ino] = file.read()

    def close(self) -> None:
        """Let go of every file."""
        for descriptor in self._held:
            os.close(descriptor)

    def _files(self, folder: Path) -> dict[str, bytes]:
        """The files of the folder after a power cut now."""
        names = self._names.get(folder.stat().st_ino, {})
        if self._names_by_themselves:
            names = {entry.name: entry.inode() for entry in os.scandir(folder)}  # another thread may rename meanwhile
        return {name: self._content.get(inode, b"") for name, inode in names.items()}

    def cut(self) -> list[str]:
        """The recordings that say they are whole after a power cut now; what each lacks goes to ``faults``."""
        whole = []
        known = self._root.iterdir() if self._names_by_themselves else map(self._root.joinpath, self._files(self._root))
        for folder in known:
            files = self._files(folder) if folder.is_dir() else {}
            if not files.get(META, b"{}"):
                self.faults.add(f"{META}: 0 bytes")
            meta = json.loads(files.get(META) or "{}")
            whole += [folder.name] if meta.get("hashes") and not meta["cut_short"] else []
            for name, digest in meta.get("hashes", {}).items():
                if hashlib.sha256(files.get(name, b"")).hexdigest() != digest:
                    self.faults.add(f"{name}: {len(files[name])} bytes" if name in files else f"{name} is missing")
        return whole


@pytest.mark.parametrize("names_by_themselves", [True, False])
def test_a_whole_recording_keeps_film_and_times_in_a_power_cut(kit, tmp_path, clock, monkeypatch, names_by_themselves):
    disk = Disk(tmp_path / "attempts", names_by_themselves, monkeypatch)
    recorder = Recorder(tmp_path / "attempts", clock, before_s=0.5, budget=Budget(free_bytes=0))
    try:
        for n in range(10):
            recorder.frame(kit.shot(n, clock))
        recorder.begin({"match_id": "M1", "card": "L00", "files": {"deck.json": {"name": "d", "cards": []}}})
        for n in range(10, 40):
            recorder.frame(last := kit.shot(n, clock))
        recorder.mark("stop", clock.now_s() - 0.2, zone="B", error_s=0.001)
        recorder.judged(last, {"A": {"verdict": "match", "confidence": 0.97, "reasons": []}})
        recorder.finish({})
        assert recorder.settle(20)
        assert disk.cut() == ["M1-001"] and disk.faults == set()
    finally:
        recorder.close()
        disk.close()


# --- every other file


def keep_rig(folder):
    """What a table has learnt of its lens, its colours and its empty mats."""
    seen = {"camera": guessed_camera(64, 48), "palette": nominal_palette(builtin_piece_set())}
    seen["camera"] = replace(seen["camera"], estimated=False)
    placed = {"A": np.array([(0, 0), (1, 0), (1, 1), (0, 1)])}
    grey = np.full((48, 64, 3), 90, np.uint8)
    observer = SimpleNamespace(**seen, empty=grey, colors=grey, placed=placed)
    camera = SimpleNamespace(name="c", source="/dev/v4l/by-id/c", settings=CameraSettings())
    view = CameraView(camera, observer)
    RigSetup(SimpleNamespace(views=[view], data_dir=folder, second=None)).keep()


KEPT = {
    "rig/camera.yaml": keep_rig,
    "rig/palette.json": keep_rig,
    "rig/empty.png": keep_rig,
    "rig/colours.png": keep_rig,
    "rig/mats.json": keep_rig,
    "rig/camera.json": keep_rig,
    "web-secret": lambda folder: kept_secret(folder / "web-secret"),
    "logins.json": lambda folder: Logins(folder / "logins.json", "pin", lambda: 1e9).begin("Eva", "10.0.0.1"),
    "evening.json": lambda folder: EveningStore(folder).change({"sound": False}),
    "setup.json": lambda folder: write_json(folder / "setup.json", {"signed": ["Ann", "Ben"]}),
}


@pytest.mark.parametrize("names_by_themselves", [True, False])
@pytest.mark.parametrize("name", KEPT)
def test_a_kept_file_is_the_old_or_the_new_one_whole_at_every_moment(name, tmp_path, monkeypatch, names_by_themselves):
    """Absent, or as it was before, or as it is now: at each fsync, before it counts, and at the end."""
    (tmp_path / "data").mkdir()
    disk = Disk(tmp_path, names_by_themselves, monkeypatch)
    left = []
    path = tmp_path / "data" / name
    monkeypatch.setattr(disk, "cut", lambda: left.append(disk._files(path.parent).get(path.name)))
    try:
        KEPT[name](tmp_path / "data")
        disk.cut()
    finally:
        disk.close()
    whole = path.read_bytes()
    assert left[-1] == whole and set(left) <= {None, whole} and len(left) > 1


WRITING = re.compile(
    r"\.write_(?:text|bytes)\(|imwrite\(|save_(?:camera|palette)\(|os\.replace\(|open\([^)]*[\"'](?:w|wb|x|xb)[\"']"
)
ELSEWHERE = {
    "referee/files.py": "here it is done",
    "referee/journal/backup.py": "copies in a temporary folder; the whole is put in place",
    "referee/journal/file_lock.py": "a probe that is removed at once",
    "referee/journal/recovery.py": "a copy in a temporary folder",
    "referee/recording/writer.py": "frames.csv and set-aside space while it is recorded; synced before the hashes",
    "referee/recording/video.py": "the film while it is recorded",
    "referee/recording/address.py": "copies of what lies elsewhere",
    "referee/review/import_video.py": "a film that is cut, in a temporary folder",
    "referee/review/report.py": "a report that can be made again",
}


def test_whoever_keeps_a_file_has_it_written_whole():
    """One function writes what the program must find again; what is written otherwise has its reason here."""
    root = Path(__file__).parents[2]
    packages = ("web", "session", "journal", "recording", "review", "devices", "match", "games", "tournament")
    found = {
        str(path.relative_to(root))
        for path in [*root.glob("referee/*.py"), *(f for p in packages for f in root.glob(f"referee/{p}/**/*.py"))]
        if WRITING.search(path.read_text("utf-8"))
    }
    assert found == set(ELSEWHERE)


# --- what a disk has left torn all the same


@pytest.fixture
def torn(kit, tmp_path, clock):
    """An archive with a recording whose ``frames.csv`` a power cut has emptied, and whose film ends in zeros."""
    recorder = Recorder(tmp_path / "attempts", clock, before_s=0.5, budget=Budget(free_bytes=0))
    try:
        folder = recorder.begin({"match_id": "M1", "card": "L00", "files": {}})
        for n in range(20):
            recorder.frame(kit.shot(n, clock))
        recorder.finish({})
        assert recorder.settle(20)
    finally:
        recorder.close()
    (folder / TIMES).write_bytes(b"")
    film = (folder / VIDEO).read_bytes()
    (folder / VIDEO).write_bytes(film[: len(film) // 2] + bytes(len(film) - len(film) // 2))
    return folder


def test_verify_tells_a_torn_file_from_a_forged_one(torn):
    assert [fault.partition(" ")[::2] for fault in sorted(load_attempt(torn).problems())] == [
        (TIMES, TORN),
        (VIDEO, TORN),
    ]
    said = CliRunner().invoke(cli, ["verify", str(torn.parent)])
    assert said.exit_code == 1 and "torn: " in said.output and "changed: " not in said.output
    (torn / TIMES).write_text("index,seconds\n0,0.0\n")
    assert f"{TIMES} is not the file that was recorded" in load_attempt(torn).problems()
    assert "changed: " in CliRunner().invoke(cli, ["verify", str(torn.parent)]).output


def test_the_next_start_says_what_a_power_cut_has_left(torn, clock):
    recorder = Recorder(torn.parent, clock)
    try:
        assert torn.name in str(recorder.problem) and "power cut" in str(recorder.problem)
    finally:
        recorder.close()


def test_an_old_recording_that_cannot_be_read_stops_no_start(torn, clock, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("referee.recording.sweep.torn", refuse)
    recorder = Recorder(torn.parent, clock)
    try:
        assert recorder.problem is None
        assert recorder.begin({"match_id": "M2", "card": "L00", "files": {}}).is_dir()
    finally:
        recorder.close()
