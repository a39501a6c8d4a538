"""/attempts over an archive at an address: what is asked for is brought, nothing else, and notes go back."""

from __future__ import annotations

import shutil

import fsspec
import pytest
from click.testing import CliRunner

from referee.cli import cli
from referee.errors import BadAttempt
from referee.recording.address import Mirror
from referee.web.app import create_archive_app


@pytest.fixture
def club(kit, tmp_path):
    """Three attempts at memory://club, the last an evening deeper; gives the store."""
    store = fsspec.filesystem("memory")
    store.store.clear()
    for n, name in enumerate(("M1-001", "M1-002", "eve/M2-001")):
        folder = kit.make_attempt(tmp_path / "here" / name, n + 1)
        (folder / "video.mp4").write_bytes(bytes(10_000))
    for path in (tmp_path / "here").rglob("*.*"):
        store.pipe(f"/club/{path.relative_to(tmp_path / 'here')}", path.read_bytes())
    yield store
    store.store.clear()


@pytest.fixture
def mirror(club, tmp_path):
    made = Mirror("memory://club", tmp_path / "copy")
    made.refresh()
    return made


@pytest.fixture
def client(mirror, tmp_path):
    return create_archive_app(mirror.root, tmp_path, mirror=mirror).test_client()


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_the_pages_show_an_archive_where_it_lies_and_bring_no_more_than_is_looked_at(client, mirror):
    page = client.get("/attempts").text
    assert all(f"/attempts/{name}" in page for name in ("M1-001", "M1-002", "eve~M2-001"))
    assert names(mirror.root / "M1-001") == {"attempt.json"}
    assert client.get("/attempts/M1-001/picture.jpg").mimetype == "image/jpeg"
    assert "stop.png" in names(mirror.root / "M1-001") and "video.mp4" not in names(mirror.root / "M1-001")
    assert client.get("/attempts/eve~M2-001").status_code == 200
    with client.get("/attempts/eve~M2-001/video.mp4") as video:
        assert video.data == bytes(10_000)
    assert names(mirror.root / "M1-002") == {"attempt.json"}


def test_what_is_said_of_an_attempt_goes_back_beside_what_others_said_meanwhile(client, club, mirror):
    club.pipe("/club/M1-002/review.jsonl", b'{"kind": "reviewed", "who": "Gus"}\n')
    with client.session_transaction() as kept:
        kept["csrf"] = "token"
    answer = client.post("/attempts/M1-002/reviewed", data={"who": "Eve", "csrf_token": "token"})
    assert answer.status_code == 303
    lines = club.cat("/club/M1-002/review.jsonl").decode().splitlines()
    assert len(lines) == 2 and "Gus" in lines[0] and "Eve" in lines[1]
    assert "Gus, Eve" in client.get("/attempts").text


def test_what_came_changed_and_went_is_seen_at_the_next_look(club, mirror, kit, tmp_path, monkeypatch):
    mirror.bring(mirror.root / "M1-002")
    new = kit.make_attempt(tmp_path / "new", 5)
    club.rm("/club/M1-001", recursive=True)
    club.pipe("/club/M1-009/attempt.json", (new / "attempt.json").read_bytes())
    club.pipe("/club/M1-002/attempt.json", (new / "attempt.json").read_bytes())
    told, gone = [], []
    monkeypatch.setattr(
        shutil, "rmtree", lambda folder, rmtree=shutil.rmtree, **how: (gone.append(folder.name), rmtree(folder))
    )
    mirror.refresh(lambda done, total: told.append((done, total)))
    assert {path.name for path in mirror.root.iterdir()} == {"M1-002", "M1-009", "eve"} and told == [(0, 2), (2, 2)]
    assert names(mirror.root / "M1-002") == {"attempt.json"} and gone == ["M1-001"]  # what changed was never away
    assert (mirror.root / "M1-002" / "attempt.json").read_bytes() == (new / "attempt.json").read_bytes()


def test_a_name_that_leads_elsewhere_is_not_brought(club, mirror, tmp_path):
    club.store["/club/../secret/attempt.json"] = club.store["/club/M1-001/attempt.json"]
    mirror.refresh()
    assert not (tmp_path / "secret").exists() and (mirror.root / "M1-001").exists()


@pytest.mark.parametrize(
    ("place", "fault"),
    [
        ("memory://nowhere", "memory://nowhere: neither"),
        ("gopher://club", "gopher://club: "),
        ("/no/such", "no such folder"),
    ],
)
def test_an_archive_that_is_not_there_is_one_clear_line(place, fault):
    said = CliRunner().invoke(cli, ["attempts", "show", place, "--no-browser", "--port", "0"])
    assert isinstance(said.exception, BadAttempt) and fault in str(said.exception)
