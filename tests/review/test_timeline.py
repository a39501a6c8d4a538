"""The time line of real pixels: pieces placed, hands, and the fall after the press, against the truth files.

``referee/example/duel`` is the shared recording of a collapse, encoded small; the shared recordings
themselves are read as well where they are there.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))

from sim_recording import Plot, record

from referee.cli import cli
from referee.errors import BadAttempt
from referee.recording import load_attempt
from referee.recording.video import VideoWriter
from referee.review import timeline
from referee.review.patches import color_turns
from referee.review.placements import _uncovered, solidity, stands_in_field
from referee.review.stop_ruling import stop_findings
from referee.review.timeline import is_stored, pace, read_timeline, stored_timeline
from referee.review.tracks import OTHER_LABEL, UNCHANGED_LABEL, _dim, _same

GOLDEN = Path(__file__).parents[2] / "referee" / "example" / "duel"
SHARED = Path(__file__).parents[3] / "shared" / "attempts"
RECORDINGS = [GOLDEN, *sorted(SHARED.glob("*_5*"))]
WITHIN_S = 0.5


@pytest.fixture(scope="module")
def told():
    """Each recording's time line, worked out once."""
    done = {}

    def tell(folder):
        if folder not in done:
            done[folder] = read_timeline(load_attempt(folder))
        return done[folder]

    return tell


@pytest.mark.slow
@pytest.mark.parametrize("folder", RECORDINGS, ids=lambda f: f.name)
def test_every_placed_piece_is_found_and_no_other(folder, told):
    truth = json.loads((folder / "truth.json").read_text())["placed"]
    found = told(folder).to_json()["zones"]
    for zone, rows in truth.items():
        wanted = [(p["shape"], p["color"]) for p in rows if p["finished"]]
        assert [(p["shape"], p["color"]) for p in found[zone]["placed"]] == wanted
        late = [p["seconds"] - t["seconds"] for p, t in zip(found[zone]["placed"], rows, strict=False)]
        assert np.abs(late).max() <= WITHIN_S


@pytest.mark.slow
@pytest.mark.parametrize(
    "plot",
    [
        Plot(2, "facing", "L15", height=480),  # A's arm comes from the camera's side and hides the field
        Plot(4, "beside", "L29", height=480),  # both arms do, and loose pieces stand on the markers
        Plot(3, "across", "L22", falls=True, height=480),
    ],
    ids=lambda plot: plot.seating,
)
def test_every_piece_of_a_simulated_duel_is_found_and_no_other(plot, tmp_path):
    truth = record(plot, tmp_path / "duel")
    attempt = load_attempt(tmp_path / "duel")
    story = read_timeline(attempt)
    for zone, rows in truth["placed"].items():
        found = story.placed[zone]
        assert [(p.shape, p.color) for p in found] == [(p["shape"], p["color"]) for p in rows]
        for piece, true in zip(found, rows, strict=True):
            assert abs(piece.seconds - true["seconds"]) <= max(WITHIN_S, piece.within_s)
    fallen = {row["zone"]: row["seconds"] for row in stop_findings(attempt) if row["finding"] == "fell_after_stop"}
    of_caller = {zone: at_s for zone, at_s in truth["falls"].items() if zone == attempt.caller}
    assert fallen == pytest.approx(of_caller, abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("folder", [f for f in RECORDINGS if "collapse" in f.name], ids=lambda f: f.name)
def test_the_collapse_starts_at_its_first_moving_frame_with_hands_at_rest(folder):
    attempt = load_attempt(folder)
    falls = stop_findings(attempt)
    assert [(row["zone"], row["finding"]) for row in falls] == [("A", "fell_after_stop")]
    assert falls[0]["seconds"] == pytest.approx(10.0, abs=0.1)  # seen by eye: in frame 100 the bridge leans


@pytest.mark.slow
@pytest.mark.parametrize("folder", [f for f in RECORDINGS if "right" in f.name] or RECORDINGS[:1], ids=lambda f: f.name)
def test_hands_come_and_go_with_the_pieces(folder, told):
    story = told(folder)
    for zone, rows in story.placed.items():
        for piece in rows:
            assert any(a - 0.5 <= piece.seconds <= b + 0.5 for a, b in story.hands[zone])
        assert len(story.hands[zone]) >= len(rows)


@pytest.mark.parametrize("every_s", [0.1, 0.12, 0.2])
def test_a_single_look_that_misses_a_hand_ends_no_visit_whatever_the_rate(monkeypatch, every_s):
    there = [True, True, False, True, False, False, True]
    looks = iter(SimpleNamespace(zones={"A": SimpleNamespace(hand=hand)}) for hand in there)
    shown = [SimpleNamespace(image=None, seconds=n * every_s) for n in range(len(there))]
    gate = SimpleNamespace(look=lambda frame: next(looks), reduced_frame=lambda: None)
    for name, stand_in in (
        ("observer_of", str),
        ("Gate", lambda observer: gate),
        ("recorded_frames", lambda of: shown),
    ):
        monkeypatch.setattr(timeline, name, stand_in)
    hands, _ = timeline._watched(SimpleNamespace(go_s=99.0, stop_s=None), lambda: None)
    assert hands == {"A": [[0.0, pytest.approx(3 * every_s)], [pytest.approx(6 * every_s)] * 2]}


@pytest.mark.slow
def test_it_is_worked_out_once_and_kept_beside_the_attempt(tmp_path, monkeypatch, told):
    folder = Path(shutil.copytree(GOLDEN, tmp_path / "a"))
    story = told(GOLDEN)
    monkeypatch.setattr("referee.review.timeline.read_timeline", lambda attempt, tick: story)
    first = stored_timeline(load_attempt(folder))
    monkeypatch.setattr("referee.review.timeline.read_timeline", None)
    assert stored_timeline(load_attempt(folder)) == first


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_the_command_tells_what_happened_and_each_players_pace(tmp_path, monkeypatch, words):
    folder = Path(shutil.copytree(GOLDEN, tmp_path / "a"))
    meta = json.loads((folder / "attempt.json").read_text()) | {"players": {"A": "Ann", "B": "Ben"}}
    (folder / "attempt.json").write_text(json.dumps(meta))
    story = {
        "zones": {
            "A": {
                "placed": [{"seconds": 3.4, "within_s": 0.4, "color": "green", "shape": "rectangle", "area_mm2": 2700}],
                "hands": [[3.2, 3.8]],
                "first_touch": 3.2,
            }
        },
        "findings": [{"zone": "A", "finding": "fell_after_stop", "seconds": 10.0}],
    }
    monkeypatch.setattr("referee.commands.attempts.stored_timeline", lambda attempt, tick: story)
    said = CliRunner().invoke(cli, ["timeline", str(folder), *words]).stdout
    if words:
        assert json.loads(said)["zones"] == story["zones"]
        return
    assert "    3.40 s  A  placed green rectangle (within 0.4 s: a hand hid the place)" in said
    assert "   10.00 s  A  finding: " in said
    assert "Ann: 1 duels, 1 pieces, 1.9 s a piece, idle 7.5 s, first touch 1.7 s after the go" in said


def test_a_pixel_turns_once_and_keeps_its_colour_under_a_hand():
    labels = np.array([-1, -1, 2, -1, 2, 2, 2, 2, -2, -2, -2, 2, 2, 2, 2], np.int8).reshape(-1, 1, 1)
    turned = color_turns(labels, stay=4)[0].ravel()
    assert turned.nonzero()[0].size and np.flatnonzero(turned == 2).tolist() == [4]


def test_a_pixel_hidden_while_it_turned_knows_its_last_sight_without_the_colour():
    labels = np.array([-1, -1, -2, -2, -2, 1, -2, 1, -2, -2, 1, 1], np.int8).reshape(-1, 1, 1)
    turned, before = color_turns(labels, stay=4)
    assert np.flatnonzero(turned.ravel() == 1).tolist() == [5]
    assert before.ravel()[5] == 1


def test_a_colour_that_passes_by_turns_nothing():
    labels = np.array([-1, -1, 0, 0, -2, -2, -1, -1, -1, -1], np.int8).reshape(-1, 1, 1)
    assert not (color_turns(labels, stay=4)[0] == 0).any()


@pytest.mark.parametrize(
    ("rows", "solid"),
    [
        (["####", "####", "####"], 1.0),  # a box
        (["#...#", "#...#", "##.##"], 8 / 15),  # a pair of tongs
    ],
)
def test_solidity_tells_pieces_from_tongs(rows, solid):
    mask = np.array([[c == "#" for c in row] for row in rows])
    assert solidity(mask) == pytest.approx(solid, abs=0.05)


@pytest.mark.parametrize(
    ("column", "ok"),
    [
        (slice(0, 3), True),  # in the field
        (slice(5, 8), False),  # beside it
        (slice(8, 10), True),  # on top of what stands
    ],
)
def test_a_piece_stands_on_the_field_or_on_another(column, ok):
    field, standing, mask = np.zeros((3, 12, 10), bool)
    field[8:, :4] = True
    standing[9:, 8:] = True
    mask[5:9, column] = True
    assert stands_in_field(mask, field, standing) is ok


def test_pace_adds_up_over_a_match():
    story = {
        "zones": {
            "A": {"placed": [{"seconds": 3.0}, {"seconds": 5.0}], "hands": [[2.0, 4.0]], "first_touch": 2.0},
            "B": {"placed": [], "hands": [], "first_touch": None},
        }
    }
    table = pace(
        [
            ({"A": "Ann", "B": "Ben"}, 1.0, 6.0, story),
            ({"A": "Ben", "B": "Ann"}, 1.0, 6.0, story),
            ({"A": "Ann", "B": "Ben"}, -9.0, 6.0, story),
        ]
    )  # the program was started again after its go
    same = {
        "duels": 2,
        "pieces": 2,
        "seconds_per_piece": 2.0,
        "idle_s": 8.0,
        "first_touch_s": 1.0,
        "first_placed_s": 2.0,
    }
    assert table == [{"player": "Ann", **same}, {"player": "Ben", **same}]


def test_a_kept_time_line_is_read_anew_once_the_record_has_changed(kit, tmp_path):
    folder = kit.make_attempt(tmp_path / "a")
    assert not is_stored(load_attempt(folder))
    (folder / ".timeline.json").write_text(json.dumps({"key": "of another record", "zones": {}}))
    assert not is_stored(load_attempt(folder))


def test_a_recording_killed_before_its_first_frame_has_no_time_line_and_says_so(kit, tmp_path):
    folder = kit.make_attempt(tmp_path / "a")
    (folder / "frames.csv").write_text("index,seconds\n")
    VideoWriter(folder / "video.mp4", 160, 120).abandon()
    with pytest.raises(BadAttempt, match="video"):
        read_timeline(load_attempt(folder))


def test_the_command_tells_proposed_fouls_and_whose_hand_it_was(tmp_path, monkeypatch):
    """On the golden recording, whose time line is given."""
    folder = tmp_path / "one"
    shutil.copytree(GOLDEN, folder)
    fouls = [
        {"kind": "bare_hand", "zone": "A", "culprit": "A", "seconds": 3.0, "sure": 0.9},
        {"kind": "neighbours_hand", "zone": "B", "culprit": "A", "seconds": 6.0, "sure": 1.0},
    ]
    story = {"zones": {}, "findings": [], "fouls": fouls}
    monkeypatch.setattr("referee.commands.attempts.stored_timeline", lambda attempt, tick: story)
    monkeypatch.setattr("referee.commands.attempts._say_pace", lambda told: None)
    said = CliRunner().invoke(cli, ["timeline", str(folder)]).stdout
    bare, neighbour = (line for line in said.splitlines() if "proposed foul" in line)
    assert bare.split()[:3] == ["3.00", "s", "A"] and "90 % sure" in bare and "the hand of" not in bare
    assert neighbour.split()[:3] == ["6.00", "s", "B"] and ", the hand of A, 100 % sure" in neighbour


def test_bare_paper_in_the_midst_of_a_hand_is_no_sight_of_the_place_behind_it():
    labels = np.full((1, 60, 60), UNCHANGED_LABEL, np.int8)
    labels[0, 10:30, 10:30] = OTHER_LABEL
    labels[0, 17:23, 17:23] = UNCHANGED_LABEL  # a pale cuff
    labels[0, 45, 45] = OTHER_LABEL  # noise
    strip = SimpleNamespace(labels=labels, view=SimpleNamespace(px_per_mm=1.0), dim=np.zeros(labels.shape, bool))
    seen = _uncovered(strip)[0] == UNCHANGED_LABEL
    assert not seen[10:30, 10:30].any() and seen[:8].all() and seen[32:, 32:44].all()
    assert (labels[0, 17:23, 17:23] == UNCHANGED_LABEL).all()  # the strip itself stays


def test_a_sleeve_as_grey_as_paper_is_no_sight_of_the_place_behind_it():
    """A grey sleeve passed for bare paper until it had gone: pieces behind it were told when it went, 0.4 s late."""
    labels = np.full((1, 60, 60), UNCHANGED_LABEL, np.int8)
    labels[0, 5:15, 20:40] = OTHER_LABEL  # the hand
    dim = np.zeros(labels.shape, bool)
    dim[0, 15:60, 20:40] = True  # its sleeve
    dim[0, 30:40, 50:58] = True  # a standing piece's shadow
    strip = SimpleNamespace(labels=labels, view=SimpleNamespace(px_per_mm=1.0), dim=dim)
    seen = _uncovered(strip)[0] == UNCHANGED_LABEL
    assert not seen[5:60, 20:40].any() and seen[:, 45:].all()


def test_a_colour_that_a_hand_covers_again_at_once_was_carried_past():
    """The piece in the tongs is seen before the place where it will stand, then the hand is before it."""
    shown = [-1, -1, -1, 0, -2, -2, -2, -2, -2, -2, 0, 0, 0, 0, 0, 0, 0]
    turned, before = color_turns(np.array(shown, np.int8).reshape(-1, 1, 1), stay=6)
    assert np.flatnonzero(turned.ravel() == 0).tolist() == [10] and before.ravel()[10] == 2


def test_dim_is_what_is_darker_than_most_sights_of_that_paper():
    light = np.zeros((40, 1, 3), np.float32)
    light[:12, 0, 0] = -1.0  # an arm is before it while nobody has built
    light[30:, 0, 1] = -0.6  # a shadow comes to stay
    light[:, 0, 2] = -0.8  # a printed line is as dark all the time
    seen = [np.stack([row, row * 0, row * 0], -1) for row in light]
    dim = _dim(seen, np.ones((40, 1, 3), bool))[:, 0]
    assert dim[:12, 0].all() and not dim[12:, 0].any()
    assert dim[30:, 1].all() and not dim[:30, 1].any() and not dim[:, 2].any()


def test_an_arm_over_the_field_when_building_begins_is_not_what_the_field_looked_like_before():
    """A blue sleeve was over a fifth of the field in most of the first frames: whenever it was there again, the field
    was as before, and the piece behind it came when the sleeve went."""
    seen = [np.full((1, 2, 3), 0.0 if 12 <= n < 30 else -2.0, np.float32) for n in range(40)]
    for row in seen:
        row[0, 1] = -3.0  # a printed line
    sheet = np.stack([row[..., 0] == 0.0 for row in seen])
    same = _same(seen, sheet, seen[0])[:, 0]
    assert not same[:12, 0].any() and same[12:30, 0].all() and not same[30:, 0].any()
    assert same[:, 1].all()
