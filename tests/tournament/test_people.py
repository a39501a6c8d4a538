"""People over evenings: names that change, records that are merged and deleted, careers, ratings."""

from __future__ import annotations

import io
import struct
import sys
import threading
import zlib
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))

from referee.devices.ports import SystemClock
from referee.errors import IllegalCommand, JournalUnwritable
from referee.journal.side_tables import PeopleStore, Presence, TableHeartbeat
from referee.session.people import PICTURE_PX, People
from referee.tournament.people import Register, careers, ratings
from referee.tournament.results import FinishedMatch, PlayerResult, finished_match


@pytest.fixture
def people(store):
    with closing(PeopleStore(store)) as kept:
        yield People(kept, SystemClock())


def match(number, *best_first, **best):
    """A finished match; each player's best times by name."""
    seats = tuple(PlayerResult(n, 10 - i, 4 - i, 6, i + 1, best.get(n, {})) for i, n in enumerate(best_first))
    return FinishedMatch(f"m{number}", f"2026-01-{number:02}T20:00:00+00:00", seats)


def jpeg(width=1200, height=600, **more):
    out = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(out, "JPEG", **more)
    return out.getvalue()


def test_a_record_lives_on_under_a_new_name(people):
    ann = people.add("Ann", color="#aa0000")
    people.rename(ann.id, "Anna", "Org")
    again = people.person("Ann")
    assert (again.id, again.name, again.color) == (ann.id, "Anna", "#aa0000")
    assert [row["kind"] for row in again.history] == ["person_renamed"]
    people.rename(ann.id, "Ann", "Org")
    assert people.person("Anna").names == ("Anna", "Ann")


def test_two_records_become_one_with_all_their_results(people):
    people.meet(["Ann", "Ben", "A. Smith", "ann"])
    assert len(people.register.people) == 3
    matches = [match(1, "Ann", "Ben", Ann={"L01": 9.0}), match(2, "Ben", "A. Smith", Ben={"L01": 7.5})]
    ann, other = people.person("Ann"), people.person("A. Smith")
    merged = people.merge(ann.id, other.id, "Org")
    career = careers(people.register, matches)[merged.id]
    assert [m.match_id for m in career.meetings] == ["m2", "m1"] and career.wins == 1 and career.cards == 19
    assert people.person(other.id).id == ann.id and people.person("a. smith").id == ann.id
    assert career.best == {"L01": (9.0, "m1")}


def test_what_is_deleted_is_gone_from_the_disk(tmp_path):
    with closing(PeopleStore(tmp_path / "journal.db")) as kept:
        people = People(kept, SystemClock())
        people.meet(["Xaverine Muster", "Ben", "Twin"])
        ident = people.person("Xaverine Muster").id
        picture = people.take_picture(ident, jpeg()).picture
        people.rename(ident, "Xaverina", "Org")
        people.merge(ident, "Twin", "Org")
        people.delete("Xaverina", "Org")
        assert people.picture(picture) is None and set(people.register.people) == {"P2"}
        for name in ("Xaverine Muster", "Xaverina", "Twin", ident):
            with pytest.raises(IllegalCommand, match="nobody is known"):
                people.person(name)
        assert people.add("New").id == "P4", "no id is given twice"
        raw = b"".join(path.read_bytes() for path in tmp_path.glob("people.db*"))
        assert raw and b"Xaverin" not in raw and b"Twin" not in raw


@pytest.mark.parametrize(
    "wrong",
    [
        lambda p: p.add("ANN"), lambda p: p.add(" "), lambda p: p.add("x" * 61), lambda p: p.add("a\x07"),
        lambda p: p.add("Cem", color="red"), lambda p: p.rename("Ben", "Ann"), lambda p: p.rename("Ann", "Ann"),
        lambda p: p.merge("Ann", "Ann"), lambda p: p.merge("Ann", "P99"), lambda p: p.delete("nobody"),
        lambda p: p.take_picture("Ann", b"no picture"), lambda p: p.take_picture("Ann", jpeg()[:200]),
        lambda p: p.recolor("Ann", "#12"), lambda p: p.person("P0"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line(tmp_path, wrong):
    with closing(PeopleStore(tmp_path / "journal.db")) as kept:
        people = People(kept, SystemClock())
        people.meet(["Ann", "Ben"])
        before = people.register
        with pytest.raises(IllegalCommand) as refused:
            wrong(people)
        assert "\n" not in str(refused.value) and people.register == before


def test_a_picture_is_kept_small_and_without_what_a_camera_writes_into_it(people):
    people.meet(["Ann"])
    exif = Image.Exif()
    exif[0x010F] = "SecretCam"
    name = people.take_picture("Ann", jpeg(exif=exif)).picture
    kept = people.picture(name)
    assert Image.open(io.BytesIO(kept)).size == (PICTURE_PX, PICTURE_PX // 2) and b"SecretCam" not in kept
    again = people.take_picture("Ann", jpeg(10, 10)).picture
    assert people.picture(name) is None and people.picture(again)
    assert people.take_picture("Ann", b"").picture == "" and people.picture(again) is None


def test_who_was_second_is_told_so_and_nothing_is_lost(store):
    with closing(PeopleStore(store)) as one, closing(PeopleStore(store)) as two:
        first, second = People(one, SystemClock()), People(two, SystemClock())
        first.add("Ann")
        with pytest.raises(IllegalCommand, match="P1 already"):
            second.add("Ann")
        rows, last = one.rows()
        with pytest.raises(JournalUnwritable):
            two.add("P9", rows[0][1], last - 1)
        assert second.register == first.register


def test_many_threads_read_and_write_one_store_at_once(tmp_path):
    with closing(PeopleStore(tmp_path / "journal.db")) as kept, closing(Presence(tmp_path / "journal.db")) as presence:
        people = People(kept, SystemClock())
        people.meet(["Ann"])
        wrong: list[Exception] = []

        def work(n):
            try:
                for beat in range(12):
                    presence.tell(f"T{n}", TableHeartbeat(beat))
                    assert presence.now()[f"T{n}"].beat == beat
                    assert people.picture("none") is None and people.person("Ann")
            except Exception as fault:
                wrong.append(fault)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


def test_best_times_and_places_are_read_from_a_real_match(table):
    game = table(players=3)
    assert finished_match(game.log) is None
    game.play_on(lambda state: "Ben" if "Ben" in state.seats.values() else "Ann")
    row = finished_match(game.log)
    assert {s.name: s.place for s in row.seats} == {"Ann": 2, "Ben": 1, "Cem": 3}
    ben = next(s for s in row.seats if s.name == "Ben")
    assert ben.best and set(ben.best.values()) == {10.0} and len(ben.best) == ben.won


def test_who_wins_more_is_rated_higher_and_more_matches_make_it_surer(people):
    people.meet(["Ann", "Ben", "Cem"])
    few = ratings(people.register, [match(1, "Ann", "Ben", "Cem")])
    many = ratings(people.register, [match(n, "Ann", "Ben", "Cem") for n in range(1, 13)])
    ids = [people.person(n).id for n in ("Ann", "Ben", "Cem")]
    assert [few[i].value for i in ids] == sorted((few[i].value for i in ids), reverse=True)
    assert all(many[i].margin < few[i].margin for i in ids) and many[ids[0]].value > few[ids[0]].value
    assert many[ids[0]].matches == 12
    nobody = ratings(people.register, [])
    assert {r.value for r in nobody.values()} == {25.0} and not any(r.matches for r in nobody.values())


NAMES = ("Ann", "Ben", "Cem", "Dia")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.permutations(NAMES), max_size=6), st.integers(0, 3), st.integers(0, 3))
def test_a_merge_loses_no_result_and_counts_none_twice(orders, one, other):
    from referee.tournament import people as records

    register = Register()
    for name in NAMES:
        register = records.evolve(register, *records.add_person(register, name, "2026-01-01T00:00:00+00:00"))
    matches = [match(n, *order) for n, order in enumerate(orders, 1)]
    before = careers(register, matches)
    if one != other:
        kept, gone = register.person(NAMES[one]), register.person(NAMES[other])
        register = records.evolve(register, *records.merge_people(kept, gone, "2026-01-02T00:00:00+00:00", "Org"))
    after = careers(register, matches)
    assert sum(c.cards for c in after.values()) == sum(c.cards for c in before.values())
    assert sum(len(c.meetings) for c in after.values()) == 4 * len(matches)
    assert ratings(register, matches).keys() == register.people.keys()


def test_two_people_may_have_the_same_picture(people):
    people.meet(["Ann", "Ben"])
    first, second = (people.take_picture(name, jpeg()).picture for name in ("Ann", "Ben"))
    assert people.picture(first) == people.picture(second) and people.picture(first)
    people.take_picture("Ann", b"")
    assert people.picture(first) is None and people.picture(second)


def test_a_small_file_that_unfolds_to_gigabytes_is_refused(people):
    """A PNG of 565 bytes that announces 400 megapixels (RFC 2083: IHDR, IDAT, IEND)."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 20_000, 20_000, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes(2501 * 200), 9)
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    people.meet(["Ann"])
    with pytest.raises(IllegalCommand, match="the picture is too large: more than 89478485 pixels"):
        people.take_picture("Ann", bomb)
