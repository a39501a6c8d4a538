"""Every forgery of a sealed attempt is found, and no honest one is accused; seals are made by the running table."""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))

from forgeries import forgeries, keys, of_a_signature, sealed

from referee.cli import cli
from referee.events import Event
from referee.journal.chain import Entry, lines_of
from referee.journal.journal import Journal
from referee.recording import load_attempt
from referee.recording.folder import (
    JOURNAL,
    META,
    REVIEW,
    SIGNATURE,
    append_line,
    hash_files,
    pack,
    review_row,
    sha256,
    write_json,
)
from referee.review.signing import load_private, load_public, sign
from referee.review.verify import SEAL, verify


def test_a_hundred_forgeries_are_found_and_no_honest_attempt_is_accused(kit, tmp_path):
    honest = sealed(kit, tmp_path / "honest")
    assert verify(honest).consistent
    missed, tried = [], 0
    for n, (name, forge) in enumerate(forgeries(honest)):
        folder = Path(shutil.copytree(honest, tmp_path / f"f{n}" / honest.name))
        forge(folder)
        tried += 1
        missed += [name] if verify(folder).consistent else []
        shutil.rmtree(folder)
    assert tried >= 100 and missed == []


def test_a_hundred_honest_attempts_are_consistent(kit, tmp_path):
    assert all(verify(sealed(kit, tmp_path / str(n), n)).consistent for n in range(100))


def test_what_people_add_later_and_the_kept_time_line_break_no_seal(kit, tmp_path):
    folder = sealed(kit, tmp_path / "M1-001")
    append_line(folder / REVIEW, {"kind": "ruling", "who": "Eve"})
    (folder / ".timeline.json").write_text("{}")
    assert verify(folder).consistent


@pytest.mark.parametrize("packed", [False, True])
def test_the_command_says_in_one_line_what_was_changed(kit, tmp_path, packed):
    folder = sealed(kit, tmp_path / "a" / "M1-001")
    where = tmp_path / "a"
    if packed:
        where = tmp_path / "bundle.zip"
        pack(load_attempt(folder), where)
    whole = CliRunner().invoke(cli, ["verify", str(where)])
    assert whole.exit_code == 3 and "M1-001  consistent in itself, sealed by event 3 of match M1" in whole.output
    assert "nothing outside vouches for it" in whole.output
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
    assert not verify(folder).consistent and "never closed" in verify(folder).unsealed


@pytest.fixture
def signed(kit, tmp_path):
    """A sealed and signed attempt, the operator's public key as text, and a stranger's private key."""
    operator, stranger = keys(tmp_path / "keys")
    folder = sealed(kit, tmp_path / "M1-001")
    sign(folder, load_private(operator))
    return folder, load_public(operator.with_name("operator.pub")), stranger


def test_whoever_has_the_operators_key_sees_what_a_seal_cannot_show(signed, tmp_path):
    folder, public, stranger = signed
    assert verify(folder, key=public).whole and verify(folder).signer == public
    missed = []
    for n, (name, forge) in enumerate([*forgeries(folder), *of_a_signature(folder, stranger)]):
        place = Path(shutil.copytree(folder, tmp_path / f"f{n}" / folder.name))
        forge(place)
        missed += [name] if verify(place, key=public).whole else []
        shutil.rmtree(place)
    assert missed == []


def test_a_spoilt_signature_is_told_to_everybody(signed, tmp_path):
    folder, _, stranger = signed
    quiet = {"no signature", "another's signature", "everything anew, another's signature"}
    for n, (name, forge) in enumerate(of_a_signature(folder, stranger)):
        place = Path(shutil.copytree(folder, tmp_path / f"f{n}" / folder.name))
        forge(place)
        assert verify(place).consistent is (name in quiet | {"everything anew, no signature"}), name


def test_a_signature_alone_vouches_for_a_recording_that_no_table_sealed(kit, signed):
    folder, public, _ = signed
    (folder / "journal.jsonl").unlink()
    assert not verify(folder, key=public).whole  # it signed that file too
    sign(folder, load_private(folder.parent / "keys" / "operator"))
    assert verify(folder, key=public).whole and not verify(folder).consistent


def test_keys_are_made_and_used_by_commands(kit, tmp_path):
    folder, key = sealed(kit, tmp_path / "archive" / "M1-001"), tmp_path / "operator.key"
    run = lambda *words: CliRunner().invoke(cli, list(map(str, words)))  # noqa: E731
    assert run("attempts", "key", key).exit_code == 0 and key.stat().st_mode & 0o077 == 0
    assert "File exists" in str(run("attempts", "key", key).exception)
    assert run("attempts", "sign", key, tmp_path / "archive").output == "M1-001  signed\n"
    checked = run("verify", folder, "--key", f"{key}.pub")
    assert checked.exit_code == 0 and ", signed by key " in checked.output
    assert "no public key" in str(run("verify", folder, "--key", key).exception)
    (folder / "video.mp4").write_bytes(b"another film")
    refused = run("attempts", "sign", key, folder)
    assert refused.exit_code == 1 and "not signed: video.mp4 is not the file" in refused.output
    assert not (folder / SIGNATURE).exists()


def test_without_the_library_a_signature_is_not_taken_for_checked(signed, monkeypatch):
    folder = signed[0]
    for name in ("", ".exceptions", ".hazmat.primitives", ".hazmat.primitives.asymmetric"):
        monkeypatch.setitem(sys.modules, f"cryptography{name}", None)
    found = verify(folder)
    assert not found.consistent and "pip install 'referee[sign]'" in found.changed[0]


# --- Which attempt it is, and which are gone


class Evening:
    """An archive of sealed attempts M1-001 … M1-004 of one match, and the journal that holds their seals; Dia is in the
    second alone."""

    def __init__(self, kit, root: Path) -> None:
        self.root, self.journal = root / "attempts", root / "journal.db"
        events = [Event("match_created", {"n": 1})]
        for n in range(1, 5):
            folder = kit.make_attempt(
                self.root / f"M1-{n:03d}", n, players={"A": "Ann", "B": "Ben" if n != 2 else "Dia"}
            )
            meta = json.loads((folder / META).read_text())
            write_json(folder / META, meta | {"hashes": hash_files(folder)})
            events.append(Event(SEAL, {"attempt": folder.name, "sha256": sha256(folder / META)}))
            (folder / JOURNAL).write_text("".join(f"{line}\n" for line in lines_of("M1", events)))
        with closing(Journal(self.journal)) as record:
            record.append("M1", events)
            record.append("T2-1", [Event("match_created"), Event(SEAL, {"attempt": "T2-1-001"})], table="T2")

    def verified(self, *words: object) -> tuple[int, str]:
        """Exit status and output of ``verify`` on the archive."""
        done = CliRunner().invoke(cli, ["verify", str(self.root), *map(str, words)])
        return done.exit_code, done.output

    @property
    def record(self) -> tuple[str, Path]:
        """The option that asks the journal too."""
        return "--journal", self.journal


@pytest.fixture
def evening(kit, tmp_path):
    return Evening(kit, tmp_path)


def test_only_what_something_outside_vouches_for_is_whole(evening):
    status, told = evening.verified()
    assert status == 3 and told.count("consistent in itself") == 4 and "whole" not in told
    status, told = evening.verified(*evening.record)
    assert status == 0 and told.count("whole, sealed by event") == 4 and "missing" not in told


def filled_with_another(root: Path) -> None:
    shutil.rmtree(root / "M1-001")
    shutil.copytree(root / "M1-002", root / "M1-001")


def renamed(root: Path) -> None:
    (root / "M1-001").rename(root / "M9-007")


def under_three_names(root: Path) -> None:
    for name in ("M1-001", "M1-003"):
        shutil.rmtree(root / name)
        shutil.copytree(root / "M1-002", root / name)


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize(
    ("forge", "told"),
    [
        (filled_with_another, ["M1-001  changed: the seal is of attempt M1-002, not of M1-001"]),
        (
            renamed,
            ["M9-007  changed: the seal is of attempt M1-001, not of M9-007", "M1-001  missing: sealed by event 2"],
        ),
        (under_three_names, [f"{n}  changed: the seal is of attempt M1-002, not of {n}" for n in ("M1-001", "M1-003")]),
        (lambda root: shutil.rmtree(root / "M1-002"), ["M1-002  missing: sealed by event 3 of match M1"]),
    ],
)
def test_a_seal_is_of_one_attempt_and_each_sealed_attempt_has_to_be_there(evening, forge, told, asked):
    forge(evening.root)
    status, output = evening.verified(*(evening.record if asked else ()))
    assert status == 1 and all(line in output for line in told)
    assert output.count("changed") + output.count("missing") == len(told)


def test_that_the_last_attempt_of_an_archive_is_missing_the_journal_knows(evening):
    shutil.rmtree(evening.root / "M1-004")
    assert evening.verified()[0] == 3
    status, told = evening.verified(*evening.record)
    assert status == 1 and "M1-004  missing: sealed by event 5 of match M1" in told and "T2" not in told


def test_what_went_to_make_room_is_told_and_accuses_nobody(evening):
    shutil.rmtree(evening.root / "M1-002")
    row = {"at": "2026-05-02T09:30:00+00:00", "removed": "M1-002", "bytes": 5000, "why": "disk budget, uncontested"}
    (evening.root / "retention.jsonl").write_text(json.dumps(row) + "\n")
    status, told = evening.verified(*evening.record)
    assert status == 0 and "M1-002  not here: went to make room, 2026-05-02T09:30 by retention.jsonl" in told


def test_what_was_removed_on_request_is_told_and_neither_verify_accuses_anybody(evening):
    words = ["people", "films", "Dia", str(evening.root), "--remove", "--yes"]
    assert CliRunner().invoke(cli, words).output.endswith("1 recordings are removed\n")
    status, told = evening.verified(*evening.record)
    assert status == 0 and "M1-002  not here: removed on request, 20" in told and "missing" not in told
    assert told.count("whole, sealed by event") == 3
    checked = CliRunner().invoke(cli, ["journal", "verify", "-j", str(evening.journal)])
    assert checked.exit_code == 0 and "M1: 5 events, sound" in checked.output


def test_rulings_beside_a_record_are_compared_with_the_journal(evening):
    folder, overruled = evening.root / "M1-001", Event("duel_overruled", RULING, who="Eve", at="2026-05-02T09:30:00")
    meta = json.loads((folder / META).read_text())
    with closing(Journal(evening.journal)) as record:
        record.append("M1", [overruled], after=5)
    assert meta.get("duel") is None and evening.verified(*evening.record)[0] == 0
    append_line(folder / REVIEW, review_row(overruled))
    append_line(folder / REVIEW, {"kind": "reviewed", "who": "Gus"})
    assert evening.verified(*evening.record)[0] == 0
    append_line(
        folder / REVIEW, {"kind": "ruling", "ruling": "void", "who": "head referee", "at": "2026-05-02T10:00:00"}
    )
    status, told = evening.verified(*evening.record)
    assert status == 3 and told.count("whole") == 3
    assert "M1-001  as recorded, sealed by event 2 of match M1" in told
    assert "review.jsonl: ruling void by head referee, 2026-05-02T10:00, is not in the journal" in told


RULING = {"number": 1, "ruling": "mismatch", "award": "Ben", "why": "it leans"}


def test_a_ruling_that_the_journal_holds_and_nobody_finds_beside_the_record_is_told(kit, tmp_path):
    folder = sealed(kit, tmp_path / "M1-001", duel=1)
    seal = verify(folder).seal
    later = Entry("M1", 4, Event("duel_overruled", RULING, who="Eve", at="2026-05-02T09:30:00"), "", "")
    assert "ruling mismatch by Eve" in verify(folder, lambda match_id: [seal, later]).unknown[0]
    append_line(folder / REVIEW, review_row(later.event))
    with open(folder / REVIEW, "a", encoding="utf-8") as file:
        file.write('["no object"]\n')
    assert verify(folder, lambda match_id: [seal, later]).whole


def test_an_import_that_nothing_sealed_says_so_with_a_status_of_its_own(evening, kit):
    folder = kit.make_attempt(evening.root / "phone", 9, imported={"from": "phone.mp4"})
    meta = json.loads((folder / META).read_text())
    write_json(folder / META, meta | {"hashes": hash_files(folder)})
    status, told = evening.verified(*evening.record)
    assert status == 4 and "phone  imported, never sealed: no journal.jsonl" in told
    (folder / "stop.png").write_bytes(b"")
    assert evening.verified(*evening.record)[0] == 1
    shutil.rmtree(folder)
    meta = json.loads((evening.root / "M1-001" / META).read_text())  # of one that the record knows it is a lie
    write_json(evening.root / "M1-001" / META, meta | {"imported": {"from": "phone.mp4"}})
    (evening.root / "M1-001" / JOURNAL).unlink()
    status, told = evening.verified(*evening.record)
    assert status == 1 and "M1-001  missing: sealed by event 2" in told


def test_who_asks_about_single_attempts_is_not_told_of_the_others(evening):
    done = CliRunner().invoke(cli, ["verify", str(evening.root / "M1-003"), *map(str, evening.record)])
    assert done.exit_code == 0 and len(done.output.splitlines()) == 1


def test_the_operators_key_vouches_and_its_record_names_what_is_missing(evening, tmp_path):
    operator, _ = keys(tmp_path / "keys")
    for folder in evening.root.iterdir():
        sign(folder, load_private(operator))
    key = ("--key", operator.with_name("operator.pub"))
    assert evening.verified(*key)[0] == 0
    shutil.rmtree(evening.root / "M1-001")
    status, told = evening.verified(*key)
    assert status == 1 and "M1-001  missing: sealed by event 2 of match M1" in told
