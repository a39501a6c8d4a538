"""States of a match that pages are looked at in: name, address, and what to do before looking."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import practising
import proving
from fake_session import MISSING, FakeCamera, FakeObserver, FakeSession, table_picture, without_markers
from simulated_webcams import BRIO, SimulatedChoices

from cards.sentences import sentence
from referee.devices.ports import Frame
from referee.match.commands import BeginJudging, DrawCard, Foul, NextDuel, OpenReview, Overrule, Ready
from referee.match.foul import FoulProposal, foul_sentence
from referee.recording import load_attempt
from referee.recording.folder import write_json
from referee.review.timeline import CACHE, _key
from referee.vision.verdict.case import AS_CARD_REASON

GOLDEN = Path(__file__).parents[2] / "referee" / "example" / "duel"
STORY = {
    "version": 1,
    "zones": {
        "A": {
            "placed": [{"seconds": 3.4, "color": "green", "shape": "rectangle", "area_mm2": 2500}],
            "hands": [[0.0, 1.8], [3.2, 3.8]],
            "first_touch": 3.4,
        },
        "B": {"placed": [], "hands": [], "first_touch": None},
    },
}
"""A time line that is there already, so that looking at the page starts no work."""

TRIANGLE = {"color": "red", "shape": "triangle"}
WRONG_PLACE = ("wrong_place", "the red triangle is 23 mm out of place", {"n": 23, "piece": TRIANGLE})
WRONG_SUPPORT = (
    "wrong_support",
    "the blue cube stands on the wrong piece",
    {"piece": {"color": "blue", "shape": "cube"}},
)
PLAYERS = ["Ann", "Ben", "Cem", "Dia"]


@dataclass(frozen=True)
class Scene:
    """``prepare`` brings a session without a match to the state; ``click`` is pressed on the page."""

    name: str
    path: str
    prepare: Callable[[FakeSession], object] = lambda session: None
    click: str = ""


def layout_card(session: FakeSession) -> str:
    """The id of a layout card with several colours."""
    layouts = [c for c in session.deck.cards if c.kind == "layout"]
    return max(layouts, key=lambda c: (len(c.pieces) < 7, len(c.pieces))).id


def started(session: FakeSession) -> None:
    """Four players, nothing drawn yet."""
    session.create_match(PLAYERS)


def building(session: FakeSession, card: str = "") -> None:
    """Some duels have been played; now they build."""
    started(session)
    for n, zone in enumerate("AABBA"):
        session.command(DrawCard())
        session.command(Ready())
        session.go()
        session.clock.sleep(9)
        session.press(zone)
        session.see(zone, "match" if n % 3 else "mismatch", 0.97)
        session.command(NextDuel())
    session.command(DrawCard(card or layout_card(session)))
    session.command(Ready())
    session.go()
    session.clock.sleep(12.3)


def proposed(session: FakeSession) -> None:
    """The camera proposes two fouls of the duel that is being built."""
    building(session)
    for kind, zone, at_s in (("second_hand", "A", 3.2), ("shaken", "B", 7.9)):
        seen = FoulProposal(kind, zone, at_s, 0.9, zone if kind == "second_hand" else None)
        session.command(Foul(session.state.seats[zone], foul_sentence(kind, zone), "camera", seen=seen))


def right(session: FakeSession) -> None:
    """The caller was right."""
    building(session)
    session.press("B")
    session.see("B", "match", 0.981)


def wrong(session: FakeSession) -> None:
    """A false stop with two faults."""
    building(session)
    session.press("A")
    session.see(
        "A",
        "mismatch",
        0.953,
        [MISSING, WRONG_PLACE],
    )


def fell(session: FakeSession) -> None:
    """The build fell by itself after the Stop: the camera sees what lies there now."""
    building(session)
    session.press("A")
    session.see("A", "mismatch", 0.97, [WRONG_SUPPORT, MISSING, WRONG_PLACE], findings=("fell_after_stop",))


def drawn(session: FakeSession) -> None:
    """The card is on the table, still hidden; a hand is in a field."""
    started(session)
    session.command(DrawCard())
    session.fields = {"A": "hand"}


def ready(session: FakeSession) -> None:
    """Both wait for the go."""
    started(session)
    session.command(DrawCard())
    session.command(Ready())


def stopped(session: FakeSession) -> None:
    """Somebody has pressed; the camera looks."""
    building(session)
    session.press("A")


def overruled(session: FakeSession) -> None:
    """The camera said wrong; a human looked at the picture and gave the card to the caller."""
    wrong(session)
    session.command(Overrule("match", "Eva", "the picture shows it right"))


def voided(session: FakeSession) -> None:
    """A human declared the duel void after the camera's verdict."""
    wrong(session)
    session.command(Overrule("void", "Eva", "the table was bumped"))


def contested(session: FakeSession) -> None:
    """The camera cannot tell, and offers its other readings."""
    building(session)
    session.press("A")
    face = session.deck.by_id[session.state.card_id]
    placed = [
        {"shape": p.shape, "color": p.color, "rotation": p.pose.rotation, "facing": p.pose.facing}
        | {"x": p.x, "y": 0.0, "z": p.z, "yaw": 0.0}
        for p in face.pieces
    ]
    right = {"verdict": "match", "confidence": 0.45, "reasons": [AS_CARD_REASON.to_json()], "pieces": placed}
    fault = dict(zip(("code", "text", "values"), MISSING, strict=True))
    less = {"verdict": "mismatch", "confidence": 0.4, "reasons": [fault], "pieces": placed[:-1]}
    session.see("A", "undecided", 0.55, [MISSING], leaning="mismatch", margin=2.5, alternatives=[right, less])


def bare(session: FakeSession) -> None:
    """Played without lens, empty table and colours; another card stands in the holder."""
    started(session)
    session.observer.palette = None
    session.command(DrawCard("H03"))
    session.alarms = [{"code": "wrong_card", "text": "H04 stands in the holder, H03 is played", "since": ""}]


def paused(session: FakeSession) -> None:
    """A pause between two duels."""
    building(session)
    session.press("A")
    session.see("A", "match")
    session.command(NextDuel())
    (session.data_dir / "evening.json").write_text('{"paused": true, "pause": "Pizza", "back": "20:15"}')


def undecided(session: FakeSession) -> None:
    """The camera cannot tell; an alarm stands."""
    building(session)
    session.alarms = [{"code": "light_changed", "text": "", "since": ""}]
    session.press("A")
    session.see(
        "A",
        "undecided",
        0.55,
        [("wrong_place", "the red triangle is 14 mm out of place", {"n": 14, "piece": TRIANGLE})],
        margin=12.4,
        leaning="mismatch",
    )


def unsigned(session: FakeSession) -> None:
    """The house asks for signatures before the first card."""
    rules = session.rules.model_copy(update={"sign_off": "asked"})
    session.create_match(PLAYERS, rules=rules)


def signed(session: FakeSession) -> None:
    """Both players have signed the set-up."""
    unsigned(session)
    session.setup.sign(("Ann", "Dia"), {"steps": {}}, "Eva")


def rigged(session: FakeSession) -> None:
    """Two SIMULATED webcams, both in use; what is held is not in force; a mat has no markers to read and was placed by
    hand."""
    started(session)
    session.choices = SimulatedChoices()
    session.choices.second = BRIO
    session.second = SimpleNamespace(camera=FakeCamera(), observer=FakeObserver(session.piece_set), is_first=False)
    session.second.camera.name = "Brio 100"
    image, corners = without_markers(table_picture(), "B")
    session.camera.latest = lambda after=-1, timeout_s=1.0: Frame(image, 1, 0.0)
    session.observer.placed = {"B": corners}
    session.alarms = [{"code": "exposure", "text": sentence("exposure_off", wanted=156, actual=312)}]  # SIMULATED


def judging(session: FakeSession) -> None:
    """The views after the Stop are being judged."""
    stopped(session)
    session.command(BeginJudging(session.clock.now_s()))


def not_judging(session: FakeSession) -> None:
    """The camera was unplugged after the Stop."""
    stopped(session)
    session.alarms = [{"code": "camera_lost", "text": "camera 0: unplugged", "since": ""}]


def long_names(session: FakeSession) -> None:
    """Nine players, with names as long as people have them, before the go."""
    long = ["Maximiliane von Hohenberg", "Bartholomäus-Friedrich", "Konstantinos Papadopoulos"]
    session.create_match([*long, "Jo", *PLAYERS, "Eva"])
    session.command(DrawCard())


def dead_heat(session: FakeSession) -> None:
    """Both pressed at once, and of neither build can the camera tell."""
    building(session)
    session.press("A")
    session.press("B")
    for zone in "AB":
        session.see(
            zone,
            "undecided",
            0.6,
            [
                (
                    "two_readings",
                    "the picture fits two builds about equally well: the card is built; or: 1 blue cube missing",
                    {
                        "ahead": AS_CARD_REASON.to_json(),
                        "behind": dict(zip(("code", "text", "values"), MISSING, strict=True)),
                    },
                )
            ],
        )


def recorded(session: FakeSession) -> None:
    """An attempt lies in the archive, with its verdict."""
    started(session)
    folder = session.data_dir / "attempts" / f"{session.state.match_id}-001"
    shutil.copytree(GOLDEN, folder)
    meta = json.loads((folder / "attempt.json").read_text(encoding="utf-8"))
    bridge = {"color": "orange", "shape": "bridge"}
    text = "the orange bridge stands on the wrong piece"
    why = {"code": "wrong_support", "text": text, "values": {"piece": bridge}}
    meta |= {
        "players": {"A": "Ann", "B": "Ben"},
        "match_id": session.state.match_id,
        "verdicts": {"A": {"verdict": "mismatch", "confidence": 0.99, "reasons": [why]}},
    }
    (folder / "attempt.json").write_text(json.dumps(meta), encoding="utf-8")
    write_json(folder / CACHE, STORY | {"key": _key(load_attempt(folder))})


def review(session: FakeSession) -> None:
    """A verdict under review."""
    wrong(session)
    session.command(OpenReview("Eva", "Ann protests"))


def finished(session: FakeSession) -> None:
    """Two players have played it out."""
    session.create_match(["Ann", "Ben"])
    while session.state.phase != "finished":
        session.command(DrawCard())
        session.command(Ready())
        session.go()
        session.clock.sleep(9)
        session.press("A")
        session.clock.sleep(0.3)
        session.press("B")
        session.see("A", "match")
        session.command(NextDuel())


SCENES = (
    Scene("board-welcome", "/"),
    Scene("board-idle", "/", started),
    Scene("board-drawn", "/", drawn),
    Scene("board-ready", "/", ready),
    Scene("board-building", "/", building),
    Scene("board-stopped", "/", stopped),
    Scene("board-right", "/", right),
    Scene("board-wrong", "/", wrong),
    Scene("board-fell", "/", fell),
    Scene("board-undecided", "/", undecided),
    Scene("board-review", "/", review),
    Scene("board-winner", "/", finished),
    Scene("board-overruled", "/", overruled),
    Scene("board-void", "/", voided),
    Scene("board-judging", "/", judging),
    Scene("board-not-judging", "/", not_judging),
    Scene("board-dead-heat", "/", dead_heat),
    Scene("board-long-names", "/", long_names),
    Scene("board-pause", "/?kiosk", paused),
    Scene("board-kiosk", "/?kiosk", building),
    Scene("console-overruled", "/referee", overruled),
    Scene("console-contested", "/referee", contested),
    Scene("console-settle", "/referee", contested, "[data-key=quickmatch]"),
    Scene("console-bare", "/referee", bare),
    Scene("console-rename", "/referee", started, "[data-dialog=rename]"),
    Scene("console-new-while-open", "/referee", building, "[data-dialog=match]"),
    Scene("console-people", "/referee", started, "[data-key=people]"),
    Scene("console-pause", "/referee", started, "[data-dialog=pause]"),
    Scene("console-paused", "/referee", paused),
    Scene("console-zoom", "/referee", contested, "[data-key=zoom]"),
    Scene("console-void", "/referee", building, "[data-dialog=void]"),
    Scene("console-review", "/referee", review),
    Scene("console-finished", "/referee", finished),
    Scene("console-undo", "/referee", right, "[data-dialog=undo]"),
    Scene("console-welcome", "/referee"),
    Scene("console-new-match", "/referee", click="[data-dialog=match]"),
    Scene("console-idle", "/referee", started),
    Scene("console-building", "/referee", building),
    Scene("console-undecided", "/referee", undecided),
    Scene("console-wrong", "/referee", wrong),
    Scene("console-overrule", "/referee", wrong, "[data-key=overrule]"),
    Scene("setup", "/setup", started),
    Scene("console-unsigned", "/referee", unsigned),
    Scene("console-dead-heat", "/referee", dead_heat, "[data-key=primary]"),
    Scene("console-foul", "/referee", building, "[data-dialog=foul]"),
    Scene("console-foul-seen", "/referee", proposed),
    Scene("console-foul-ruling", "/referee", proposed, "[data-key=foul0]"),
    Scene("console-draw", "/referee", started, "[data-dialog=draw]"),
    Scene("console-keys", "/referee", started, "[data-dialog=help]"),
    Scene("setup-signed", "/setup", signed),
    Scene("setup-measured", "/setup", rigged, "#mats button"),
    Scene("setup-corners", "/setup", rigged, "#place-B .begin"),
    Scene("attempts", "/attempts", recorded),
    Scene("attempts-pace", "/attempts", recorded, "main a[href*='/pace/']"),
    Scene("attempt", "/attempts", recorded, ".attempt-cell a"),
    Scene("cards", "/cards", started),
    Scene("piece-set", "/cards/pieces", started),
    Scene("results", "/results", finished),
    Scene("results-none", "/results"),
    Scene("overlay", "/overlay", overruled),
    Scene("overlay-building", "/overlay", building),
    Scene("practice-welcome", "/practice", practising.Practice),
    Scene("practice-waiting", "/practice", practising.waiting),
    Scene("practice-counting", "/practice", practising.counting),
    Scene("practice-building", "/practice", practising.building),
    Scene("practice-shown", "/practice", practising.shown),
    Scene("prove", "/prove", proving.known),
    Scene("prove-unmeasured", "/prove"),
    Scene("prove-asked", "/prove", proving.asked),
    Scene("prove-looking", "/prove", proving.looking),
    Scene("prove-done", "/prove", proving.done),
    Scene("login", "/login"),
    Scene("error", "/nothing-here"),
)
