"""Every forgery of a sealed attempt is found, and no honest one is accused; seals are made by the running table."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from referee.cli import cli
from referee.events import Event
from referee.journal.chain import lines_of
from referee.recording import load_attempt
from referee.recording.folder import JOURNAL, META, append_review, hash_files, pack, sha256, write_json
from referee.review.verify import verify


def sealed(kit, folder: Path, number: int = 0) -> Path:
    """A small attempt, closed and sealed as the table does it."""
    kit.make_attempt(folder, number, recorded_at="2026-05-01T20:00:00+00:00")
    (folder / "video.mp4").write_bytes(bytes([number]) * 5000)
    meta = json.loads((folder / META).read_text())
    write_json(folder / META, meta | {"hashes": hash_files(folder)})
    events = [Event("match_created", {"n": number}), Event("go", {"at_s": 1.0})]
    events.append(Event("recording_sealed", {"attempt": folder.name, "sha256": sha256(folder / META)}))
    (folder / JOURNAL).write_text("".join(f"{line}\n" for line in lines_of("M1", events)))
    return folder


def leaves(value, path=()):
    """The path of every value in a JSON value."""
    rows = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    yield from ([path] if path else [])
    for key, inner in rows:
        yield from leaves(inner, (*path, key))


def other(value):
    """Another value of the same kind."""
    return not value if isinstance(value, bool) else value + 1 if isinstance(value, int | float) else [value, "forged"]


def set_at(meta, path, drop):
    """The record with that value changed or dropped."""
    made = copy.deepcopy(meta)
    place = made
    for key in path[:-1]:
        place = place[key]
    if drop:
        del place[path[-1]]
    else:
        place[path[-1]] = other(place[path[-1]])
    return made


def forgeries(folder: Path):
    """Name and doing of every forgery that is tried."""
    meta = json.loads((folder / META).read_text())
    for path in leaves(meta):
        for drop in (False, True):
            yield f"{META} {path} {drop}", lambda f, p=path, d=drop: write_json(f / META, set_at(meta, p, d))
    yield "no hashes", lambda f: write_json(f / META, {k: v for k, v in meta.items() if k != "hashes"})
    for name in (*meta["hashes"], JOURNAL, META):
        yield f"{name} flipped", lambda f, n=name: flip(f / n)
        yield f"{name} removed", lambda f, n=name: (f / n).unlink()
        yield f"{name} cut", lambda f, n=name: (f / n).write_bytes((f / n).read_bytes()[:-9])
    for name in ("palette.json", "stop_1.png", "notes.txt", ".hidden"):
        yield f"{name} added", lambda f, n=name: (f / n).write_text("{}")
    yield "a folder added", lambda f: (f / "more").mkdir()
    yield "a link added", lambda f: (f / "more").symlink_to("video.mp4")
    yield "rehashed", lambda f: rehash(f)
    for n in range(3):
        yield f"line {n} gone", lambda f, n=n: reorder(f, lambda lines: lines[:n] + lines[n + 1 :])
        yield f"line {n} twice", lambda f, n=n: reorder(f, lambda lines: [*lines[: n + 1], *lines[n:]])
    yield "lines turned round", lambda f: reorder(f, lambda lines: lines[::-1])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def rehash(folder: Path) -> None:
    """A changed film with its digest put right."""
    flip(folder / "video.mp4")
    meta = json.loads((folder / META).read_text())
    write_json(folder / META, meta | {"hashes": hash_files(folder)})


def reorder(folder: Path, change) -> None:
    lines = (folder / JOURNAL).read_text().splitlines()
    (folder / JOURNAL).write_text("".join(f"{line}\n" for line in change(lines)))


def test_a_hundred_forgeries_are_found_and_no_honest_attempt_is_accused(kit, tmp_path):
    honest = sealed(kit, tmp_path / "honest")
    assert verify(honest).whole
    missed, tried = [], 0
    for n, (name, forge) in enumerate(forgeries(honest)):
        folder = Path(shutil.copytree(honest, tmp_path / f"f{n}"))
        forge(folder)
        tried += 1
        missed += [name] if verify(folder).whole else []
        shutil.rmtree(folder)
    assert tried >= 100 and missed == []


def test_a_hundred_honest_attempts_are_whole(kit, tmp_path):
    assert all(verify(sealed(kit, tmp_path / str(n), n)).whole for n in range(100))


def test_what_people_add_later_and_the_kept_time_line_break_no_seal(kit, tmp_path):
    folder = sealed(kit, tmp_path / "M1-001")
    append_review(folder, {"kind": "ruling", "who": "Eve"})
    (folder / ".timeline.json").write_text("{}")
    assert verify(folder).whole


@pytest.mark.parametrize("packed", [False, True])
def test_the_command_says_in_one_line_what_was_changed(kit, tmp_path, packed):
    folder = sealed(kit, tmp_path / "a" / "M1-001")
    where = tmp_path / "a"
    if packed:
        where = tmp_path / "bundle.zip"
        pack(load_attempt(folder), where)
    whole = CliRunner().invoke(cli, ["verify", str(where)])
    assert whole.exit_code == 0 and "M1-001  whole, sealed by event 3 of match M1" in whole.output
    meta = json.loads((folder / META).read_text())
    write_json(folder / META, meta | {"award": "Ben"})
    if packed:
        pack(load_attempt(folder), where)
    forged = CliRunner().invoke(cli, ["verify", str(where)])
    assert forged.exit_code == 1 and "M1-001  changed: attempt.json is not the record that was sealed" in forged.output


def test_a_seal_that_the_journal_does_not_know_is_told(kit, tmp_path):
    folder = sealed(kit, tmp_path / "M1-001")
    known = verify(folder).seal
    assert verify(folder, lambda match_id: [known]).whole
    assert "is not in the journal" in verify(folder, lambda match_id: []).changed[0]


def test_a_recording_without_a_seal_says_that_nothing_vouches_for_it(kit, tmp_path):
    folder = kit.make_attempt(tmp_path / "M1-001")
    assert not verify(folder).whole and "never closed" in verify(folder).unsealed
