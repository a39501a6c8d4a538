"""The time line of real pixels: pieces placed, hands, and the fall after the press, against the truth files.

``referee/example/duel`` is the shared recording of a collapse, encoded small; the shared recordings
themselves are read as well where they are there.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Container
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))

from sim_recording import Plot, record

from cards.build import Piece
from cards.pieces import Pose
from referee.cli import cli
from referee.devices.ports import Frame
from referee.errors import BadAttempt
from referee.recording import load_attempt
from referee.recording.video import VideoWriter
from referee.review.placements import PlacedPiece, RestingBuild, placed_pieces
from referee.review.stop_ruling import stop_findings
from referee.review.timeline import WatchedFilm, kept_timeline, pace, read_timeline, stored_timeline
from referee.vision.live.build_stages import BuildStages, Stage
from referee.vision.live.field_snapshot import FieldSnapshot

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
def test_a_single_look_that_misses_a_hand_ends_no_visit_whatever_the_rate(every_s):
    film = WatchedFilm(load_attempt(GOLDEN))
    for n, hand in enumerate([True, True, False, True, False, False, True]):
        film.note_hands(SimpleNamespace(zones={"A": SimpleNamespace(hand=hand)}), n * every_s)
    assert film.hands == {"A": [[0.0, pytest.approx(3 * every_s)], [pytest.approx(6 * every_s)] * 2]}


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


BLUE, HAND = 1, -2
"""A colour's label, and that of what is neither piece nor mat."""


def resting(*shown: int, hands: Container[int] = ()) -> Stage:
    """What is at rest in a field of one pixel that shows these labels, look by look; a hand is never at rest. In some
    looks ``hands`` are beside it."""
    stages, field = BuildStages(), np.full((3, 3), True)
    for n, label in enumerate(shown):
        labels = np.full((3, 3), label, np.int8)
        image = np.full((3, 3, 3), 40 * (label + 4), np.uint8)
        rest = np.full((3, 3), label != HAND and shown[n - 2 : n + 1] == (label,) * 3)
        hand = label == HAND or n in hands
        look = FieldSnapshot((0, 0), image, labels >= 0, 9, hand, field, labels, rest)
        stages.add(Frame(np.repeat(np.repeat(image, 4, 0), 4, 1), n, float(n)), look)
    assert stages.now is not None
    return stages.now


@pytest.mark.parametrize(
    ("shown", "since_s", "before_s"),
    [
        ((-1, -1, -1, BLUE, BLUE, BLUE, BLUE), 3.0, 2.0),
        ((-1, -1, HAND, HAND, HAND, BLUE, BLUE, BLUE), 5.0, 1.0),  # it was hidden as it came
        ((-1, -1, BLUE, BLUE, BLUE, HAND, HAND, BLUE, BLUE, BLUE), 2.0, 1.0),  # and so later
        ((-1, -1, BLUE, BLUE, BLUE, -1, -1, -1, -1, BLUE, BLUE, BLUE), 2.0, 1.0),  # by a sleeve as pale as paper
        ((-1, -1, BLUE, HAND, HAND, HAND, BLUE, BLUE, BLUE), 6.0, 1.0),  # carried past before it is set down
    ],
)
def test_what_has_come_to_rest_tells_since_when_it_was_seen(shown, since_s, before_s):
    stage = resting(*shown)
    assert (stage.labels == BLUE).all()
    assert (stage.since_s[1, 1], stage.before_s[1, 1]) == (since_s, before_s)


@pytest.mark.parametrize(("bare", "stands"), [(4, True), (5, False)], ids=["under a sleeve", "taken away"])
def test_a_piece_has_gone_where_its_place_is_bare_and_no_hand_is_over_the_field(bare, stands):
    stage = resting(-1, BLUE, BLUE, BLUE, *[-1] * bare, hands=range(4, 8))
    assert (stage.labels[1, 1] == BLUE) == stands


def placed_at(seconds: float, x: float = 0.0, shape: str = "cube") -> tuple[Piece, PlacedPiece]:
    """A blue piece that came then."""
    return Piece(shape, "blue", Pose(), x, 0.0, 15.0), PlacedPiece(seconds, "blue", 900.0, shape)


def placed_of(at_stop, later):
    """What was placed between 2 and 10 s, by these pieces at the Stop and later; what is seen later explains more."""
    found = placed_pieces(RestingBuild(at_stop, 0.9), RestingBuild(later, 0.95), 2.0, 10.0)
    return [(placed.seconds, placed.shape) for placed in found]


def test_what_fell_after_the_stop_was_placed_all_the_same():
    assert placed_of([placed_at(5.0)], [placed_at(12.0, 60.0)]) == [(5.0, "cube")]


def test_a_piece_that_two_readings_call_otherwise_is_what_the_better_one_says():
    assert placed_of([placed_at(5.0, shape="egg")], [placed_at(5.1, 3.0), placed_at(7.0, 50.0)]) == [
        (5.1, "cube"),
        (7.0, "cube"),
    ]


def test_what_stood_before_the_go_or_came_after_the_stop_was_not_placed():
    assert placed_of([], [placed_at(2.1), placed_at(10.1)]) == []


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
    assert kept_timeline(load_attempt(folder)) is None
    for kept in ('{"key": "of another record", "zones": {}}', "[]", "null", '{"key":', ""):
        (folder / ".timeline.json").write_text(kept)
        assert kept_timeline(load_attempt(folder)) is None, kept


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
