"""A recording that says it is whole survives a power cut: the recorder over a disk that keeps only what was synced."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path

import pytest

from referee.recording import Budget, Recorder
from referee.recording.folder import META


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
            names = {child.name: child.stat().st_ino for child in folder.iterdir()}
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
