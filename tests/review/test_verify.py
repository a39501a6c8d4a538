"""Every forgery of a sealed attempt is found, and no honest one is accused; seals are made by the running table."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))

from forgeries import forgeries, keys, of_a_signature, sealed

from referee.cli import cli
from referee.recording import load_attempt
from referee.recording.folder import META, SIGNATURE, append_review, pack, write_json
from referee.review.signing import load_private, load_public, sign
from referee.review.verify import verify


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
        place = Path(shutil.copytree(folder, tmp_path / f"f{n}"))
        forge(place)
        missed += [name] if verify(place, key=public).whole else []
        shutil.rmtree(place)
    assert missed == []


def test_a_spoilt_signature_is_told_to_everybody(signed, tmp_path):
    folder, _, stranger = signed
    quiet = {"no signature", "another's signature", "everything anew, another's signature"}
    for n, (name, forge) in enumerate(of_a_signature(folder, stranger)):
        place = Path(shutil.copytree(folder, tmp_path / f"f{n}"))
        forge(place)
        assert verify(place).whole is (name in quiet | {"everything anew, no signature"}), name


def test_a_signature_alone_vouches_for_a_recording_that_no_table_sealed(kit, signed):
    folder, public, _ = signed
    (folder / "journal.jsonl").unlink()
    assert not verify(folder, key=public).whole  # it signed that file too
    sign(folder, load_private(folder.parent / "keys" / "operator"))
    assert verify(folder, key=public).whole and not verify(folder).whole


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
    assert not found.whole and "pip install 'referee[sign]'" in found.changed[0]
