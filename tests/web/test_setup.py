"""Setting up: numbers with pass or fail, the lens from its board, signatures, and the freeze."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from fake_session import FakeCamera, FakeObserver, FakeSession, table_picture, without_markers
from playwright.sync_api import expect
from scenes import rigged
from simulated_webcams import BRIO, SWITCHES, VALUES, SimulatedCapture, SimulatedChoices

from calibration.camera import CameraModel, load_camera
from calibration.errors import BadCamera
from calibration.lens import charuco_board
from calibration.mat import SHEET_CORNERS, detect_mats
from calibration.palette import nominal_palette
from cards.pieces import builtin_piece_set
from cards.sentences import sentence
from referee.devices.camera_settings import CameraSettings
from referee.devices.ports import Frame
from referee.errors import DeviceLost, IllegalCommand
from referee.match.commands import DrawCard
from referee.recording.folder import read_placed
from referee.session.rig_setup import kept_cameras
from referee.web.app import create_app
from referee.web.i18n.texts import LANGUAGES, catalogue
from referee.web.pages import rig_checks, setup
from referee.web.pages.rig_checks import Number
from referee.web.pages.setup import STEPS
from referee.web.server import Server


def unstill() -> CameraSettings:
    """Of a SIMULATED webcam: one is in force, one is another, one it chooses by itself."""
    settings, device = CameraSettings(), SimulatedCapture()
    settings.hold(device)
    settings.actual |= {"white_balance": 3000.0, "focus": None}
    return settings


class Client:
    """A browser on the set-up page."""

    def __init__(self, session: FakeSession) -> None:
        self.web = create_app(session).test_client()
        self.token = self.web.get("/api/session").json["csrf"]

    def post(self, path: str, **form: str):
        return self.web.post(f"/setup/{path}", data={"csrf_token": self.token, **form})

    def page(self) -> str:
        return self.web.get("/setup").text


@pytest.fixture
def client(session) -> Client:
    return Client(session)


def mats_numbers(image) -> list[Number]:
    """The numbers of the mats that a picture shows."""
    return rig_checks.mats_numbers(image, detect_mats(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)))


def by_name(numbers: list[Number], name: str) -> list[Number]:
    return [number for number in numbers if number.name == name]


def test_a_good_rig_passes_in_every_number():
    numbers = mats_numbers(table_picture())
    assert [n for n in numbers if not n.passed] == []
    assert {n.zone for n in numbers} == {"", "A", "B"}


@pytest.mark.parametrize(
    "spoil, name, side",
    [
        (lambda image: (image * 0.25).astype(np.uint8), "brightness", "low"),
        (lambda image: np.clip(image.astype(int) * 2, 0, 255).astype(np.uint8), "glare", "high"),
        (lambda image: cv2.GaussianBlur(image, (0, 0), 2.5), "sharpness", "low"),
        (lambda image: np.where(np.arange(1280)[:, None] < 640, 128, image).astype(np.uint8), "mats", "low"),
    ],
)
def test_what_is_wrong_with_a_rig_is_named_with_what_to_do(spoil, name, side):
    failed = [n for n in mats_numbers(spoil(table_picture())) if not n.passed]
    assert f"hint.{name}.{side}" in {n.hint for n in failed}


def test_a_picture_without_mats_fails_and_breaks_nothing():
    numbers = mats_numbers(np.full((720, 1280, 3), 90, np.uint8))
    assert [(n.name, n.value, n.passed) for n in numbers] == [("mats", 0, False)]


def shares(corners) -> str:
    return " ".join(f"{x:.4f},{y:.4f}" for x, y in corners)


def test_a_mat_whose_markers_are_not_read_is_placed_by_hand_and_that_is_on_record(client, session, monkeypatch):
    image, corners = without_markers(table_picture(), "B")
    monkeypatch.setattr(session.camera, "latest", lambda after=-1, timeout_s=1.0: Frame(image, 1, 0.0))
    assert 'id="place-B"' not in client.page()
    client.post("measure/mats")
    assert 'id="place-B"' in client.page() and 'id="place-A"' not in client.page()
    crooked = corners + [(0.03, 0), (0, 0.03), (0, 0), (0, 0)]
    assert "fit no flat sheet" in client.post("place", zone="B", corners=shares(crooked)).text
    for wrong in ("0.1,0.1", "x,y " * 4, shares(corners[::-1]), shares(9 * corners), shares(0.01 * corners)):
        assert client.post("place", zone="B", corners=wrong).status_code == 409
    assert client.post("place", zone="Q", corners=shares(corners)).status_code == 404
    assert client.post("place", zone="B", corners=shares(corners)).status_code == 303
    assert (
        "Mat B was placed by hand." in client.page()
        and "Matte B wurde von Hand" in client.web.get("/setup?lang=de").text
    )
    drawn = cv2.imdecode(np.frombuffer(client.web.get("/setup/mats.jpg").data, np.uint8), cv2.IMREAD_COLOR)
    assert (np.abs(drawn.astype(int) - (0, 67, 168)).max(axis=2) < 60).sum() > 300
    assert client.post("sign", name_A="Ann", name_B="Ben").status_code == 409  # both must say that they saw it
    session.create_match(["Ann", "Ben"])
    client.post("sign", name_A="Ann", name_B="Ben", anyway="yes")
    rows = session.events[-1].data["record"]["steps"]["mats"]
    assert [(n["zone"], n["passed"]) for n in rows if n["name"] == "by_hand"] == [("B", False)]
    assert "markers" not in [n["name"] for n in rows if n["zone"] == "B"]
    assert client.post("place", zone="B", corners="").status_code == 409
    kept = read_placed(session.data_dir / "rig" / "mats.json")
    assert kept.keys() == {"B"} and np.abs(kept["B"] - corners).max() < 1e-4
    client.post("thaw", who="Eva")
    client.post("place", zone="B", corners="")
    assert session.observer.placed == {} == read_placed(session.data_dir / "rig" / "mats.json")


def test_corners_are_moved_by_keys_mouse_and_finger(session, browser):
    rigged(session)
    before = session.observer.placed["B"] * (1280, 720)
    server = Server(create_app(session), "127.0.0.1", 0)
    context = browser.new_context(viewport={"width": 1000, "height": 900}, has_touch=True)
    try:
        page = context.new_page()
        page.goto(f"{server.url}setup")
        page.locator("#mats-picture").evaluate("(img) => img.complete || new Promise((done) => img.onload = done)")
        page.locator("#place-B .begin").click()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Shift+ArrowUp")
        expect(page.locator("#place-B output")).to_have_text(re.compile(r"^Far left corner: \d+, \d+$"))
        scale = 1280 / page.locator("#corners").bounding_box()["width"]
        for name, how in (("Far right corner", "mouse"), ("Near right corner", "touch")):
            box = page.get_by_role("button", name=name).bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            if how == "mouse":
                page.mouse.move(x, y)
                page.mouse.down()
                page.mouse.move(x + 20, y + 10)
                page.mouse.up()
                continue
            finger = context.new_cdp_session(page)
            for kind, points in (("Start", [(x, y)]), ("Move", [(x + 20, y + 10)]), ("End", [])):
                touched = [{"x": px, "y": py} for px, py in points]
                finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": touched})
        told = page.locator("#place-B [name=corners]").input_value()
        with page.expect_navigation():
            page.locator("#place-B .keep").click()
        expect(page.locator("#fault")).to_contain_text("these corners fit no flat sheet")
        page.locator("#place-B .begin").click()  # and can be mended
        assert page.locator("#place-B [name=corners]").input_value() == told
    finally:
        context.close()
        server.close()
    moved = np.array([one.split(",") for one in told.split()], float) * (1280, 720) - before
    drag = np.array([20, 10]) * scale
    assert np.abs(moved - [(1, -10), drag, drag, (0, 0)]).max() < 1.5


def test_without_a_camera_file_the_lens_fails_and_says_so():
    numbers = rig_checks.lens_numbers(None, table_picture())
    assert not by_name(numbers, "lens")[0].passed and by_name(numbers, "view")[0].passed


@pytest.mark.parametrize(
    ("fps", "error_s", "within", "passed"),
    [
        (30.0, 0.015, "0.05", True),
        (25.0, 0.155, "0.20", True),
        (30.0, 0.245, "0.28", True),
        (8.0, 0.245, "0.37", False),
    ],
)
def test_what_a_stream_s_rate_and_bound_are_worth_is_said_in_figures(client, session, fps, error_s, within, passed):
    session.camera.status = lambda: {"fps": fps, "frame_error_s": error_s}
    client.post("measure/mats")
    assert f"Finishing within {within} s of the Stop cannot be caught with this camera." in client.page()
    assert ("left to a human" not in client.page()) == passed
    german = client.web.get("/setup?lang=de").text
    assert f"Wer innerhalb von {within.replace('.', ',')} s nach dem Stopp fertig wird" in german
    rows = rig_checks.camera_numbers({"fps": fps, "frame_error_s": error_s, "delay_s": 0.1404}, CameraSettings())
    assert [n.passed for n in rows] == [True, True, True, True, passed]
    assert {n.name: n.value for n in rows} | {"rate": fps, "delay": 0.14, "timing": error_s} == {
        n.name: n.value for n in rows
    }


def test_of_a_camera_that_has_just_started_nothing_is_said_yet():
    rows = rig_checks.camera_numbers({"fps": 0.0, "frame_error_s": 0.2}, CameraSettings())
    assert [(n.name, n.value) for n in rows] == [("held", 0)]


def test_colours_that_were_not_seen_fail_and_alike_ones_are_measured():
    palette = nominal_palette(builtin_piece_set())
    seen, apart = rig_checks.color_numbers(palette, 1000)
    assert not seen.passed and apart.value > 2


def test_pieces_that_are_not_as_large_as_their_file_says_are_told():
    smaller, fitting, larger = map(rig_checks.sizes_number, (0.92, 1.02, 1.06))
    assert (smaller.value, smaller.hint, smaller.passed) == (-8.0, "hint.sizes.low", False)
    assert fitting.passed
    assert (larger.hint, larger.passed) == ("hint.sizes.high", False)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_number_and_hint_has_a_text(language):
    numbers = [
        *mats_numbers(table_picture()),
        *rig_checks.lens_numbers(None, table_picture()),
        *rig_checks.color_numbers(nominal_palette(builtin_piece_set()), 1),
        *rig_checks.board_numbers([], None),
        rig_checks.sizes_number(1.0),
        *rig_checks.camera_numbers({"fps": 30.0}, unstill()),
        Number("error", 2, None, 0.8),
        Number("used", 0, 1, None),
        Number("by_hand", 1, None, 0),
        Number("fill", 9, None, 2),
        Number("hands", 1, None, 0),
    ]
    wanted = {f"number.{n.name}" for n in numbers}
    wanted |= {f"hint.{n.name}.low" for n in numbers if n.low is not None}
    wanted |= {f"hint.{n.name}.high" for n in numbers if n.high is not None}
    assert wanted <= catalogue(language).keys()


def test_each_step_is_measured_and_shown(client, session):
    for step in STEPS:
        assert client.post(f"measure/{step}").status_code == 303
    assert session.observer.asked == ["empty", "colors", "sizes"] and session.judging.set_up == 1
    assert client.page().count("✓ pass") > 15 and "Pieces still in the field <small>A</small>" in client.page()


def test_each_step_is_measured_by_both_cameras_and_a_fault_says_of_which(client, session):
    assert client.web.get("/setup/mats_2.jpg").status_code == 404
    beside = SimpleNamespace(camera=FakeCamera(), observer=FakeObserver(session.piece_set), is_first=False)
    beside.camera.name, session.second = "side", beside
    for step in STEPS:
        client.post(f"measure/{step}")
    assert beside.observer.asked == session.observer.asked == ["empty", "colors", "sizes"]
    assert "The second camera: side" in client.page() and client.page().count("<small>side</small>") > 10
    assert client.web.get("/setup/mats_2.jpg").mimetype == "image/jpeg"
    assert (session.data_dir / "rig_2" / "camera.json").exists()
    image, corners = without_markers(table_picture(), "B")
    beside.camera.latest = lambda *how: Frame(image, 1, 0.0)
    client.post("measure/mats")
    assert 'id="place-B_2"' in client.page() and 'id="place-B"' not in client.page()
    assert client.post("place", zone="B", camera="2", corners=shares(corners)).status_code == 303
    assert read_placed(session.data_dir / "rig_2" / "mats.json").keys() == beside.observer.placed.keys() == {"B"}
    assert session.observer.placed == {} and client.post("place", zone="B", camera="3").status_code == 404
    beside.camera.latest = lambda *how: None
    said = client.web.post("/setup/measure/empty", data={"csrf_token": client.token}, headers={"Accept": "text/html"})
    assert said.status_code == 303 and "camera side: " in client.page()


def test_settings_are_chosen_anew_with_the_mats_and_held_and_what_is_not_in_force_is_said(client, session, monkeypatch):
    monkeypatch.setattr(setup, "SETTLE_S", 0.0)
    device = session.camera.device = SimulatedCapture(lacking=("focus",))
    device.has |= {SWITCHES["exposure"]: 1, VALUES["exposure"]: 9}  # as another program left it
    client.post("measure/mats")
    assert session.camera.settings.wanted == {"exposure": 9, "white_balance": 4600} and "✗" not in client.page()
    assert kept_cameras(session.data_dir) == [("fake", session.camera.settings.wanted)]
    assert [device.get(SWITCHES[name]) for name in ("exposure", "white_balance")] == [1, 0]
    rows = rig_checks.camera_numbers({}, unstill())
    assert [(n.name, n.value, n.low, n.passed) for n in rows] == [
        ("held", 3, None, True),
        ("exposure", 156, 156, True),
        ("white_balance", 3000, 4600, False),
        ("focus", -1, 30, False),
    ]


def test_both_players_sign_and_then_nothing_is_measured_until_it_is_opened_again(client, session):
    session.create_match(["Ann", "Ben"])
    assert client.post("sign", name_A="Ann", name_B="Ben").status_code == 409
    client.post("measure/mats")
    assert client.post("sign", name_A="Ann", name_B=" ").status_code == 409
    assert client.post("sign", name_A="Ann", name_B="Ann").status_code == 409
    assert client.post("sign", name_A="Ann", name_B="Ben").status_code == 303
    kept = json.loads((session.data_dir / "setup.json").read_text())
    assert kept["signed"] == ["Ann", "Ben"] and kept["match_id"] == session.state.match_id
    assert client.post("measure/mats").status_code == 409
    assert client.post("thaw", who="Eva").status_code == 303
    assert client.post("thaw", who="Eva").status_code == 409
    assert client.post("measure/mats").status_code == 303
    kinds = [(e.kind, e.who) for e in session.events if e.kind.startswith("setup")]
    assert kinds == [("setup_signed", "referee"), ("setup_opened", "Eva")]
    assert session.events[1].data["record"]["steps"]["mats"][0]["name"] == "mats"


def test_signatures_hold_for_one_match(client, session):
    session.create_match(["Ann", "Ben"])
    client.post("measure/mats")
    client.post("sign", name_A="Ann", name_B="Ben")
    assert "Signed by Ann and Ben" in client.page()
    session.create_match(["Cem", "Dia"])
    assert "Signed by" not in client.page()


def test_players_who_sign_a_rig_that_failed_say_so(client, session):
    client.post("measure/mats")
    client.post("measure/lens")  # no camera file: fails
    answer = client.post("sign", name_A="Ann", name_B="Ben")
    assert answer.status_code == 409 and "not everything has passed (lens)" in answer.text
    assert 'name="anyway"' in client.page()
    assert client.post("sign", name_A="Ann", name_B="Ben", anyway="yes").status_code == 303
    assert session.setup.signed == ("Ann", "Ben")


def test_a_lens_is_used_at_once_and_no_more_after_signing(client, session):
    lens = CameraModel(1280, 720, np.array([[1000.0, 0, 640], [0, 1000, 360], [0, 0, 1]]), np.zeros(5))
    session.create_match(["Ann", "Ben"])
    session.setup.use_lens(lens, "Eva")
    assert session.observer.camera is lens
    assert session.events[-1].kind == "lens_changed" and session.events[-1].data["lens"]["image_width"] == 1280
    client.post("measure/mats")
    client.post("sign", name_A="Ann", name_B="Ben")
    with pytest.raises(IllegalCommand, match="frozen for this match"):
        session.setup.use_lens(None)
    assert session.observer.camera is lens


def test_a_lens_for_another_picture_is_refused(session):
    square = CameraModel(800, 800, np.eye(3), np.zeros(5))
    with pytest.raises(BadCamera, match="for 800 x 800"):
        session.setup.use_lens(square)
    assert session.observer.camera is None


def test_another_camera_has_everything_to_learn_anew(session):
    lens = CameraModel(1280, 720, np.eye(3), np.zeros(5))
    session.create_match(["Ann", "Ben"])
    session.setup.use_lens(lens)
    session.observer.placed = {"A": SHEET_CORNERS}
    session.setup.other_camera()
    seen = session.observer
    assert (seen.camera, seen.palette, seen.empty, seen.markers, seen.placed) == (None, None, None, {}, {})
    assert session.events[-1].data["lens"] == {}


@pytest.mark.parametrize("cut_short", [False, True])
def test_a_program_started_again_finds_the_rig_of_its_match_as_it_was(client, session, cut_short):
    session.create_match(["Ann", "Ben"])
    for step in ("empty", "colors"):
        client.post(f"measure/{step}")
    session.observer.placed = {"B": SHEET_CORNERS}
    session.setup.use_lens(CameraModel(1280, 720, np.diag([1000.0, 1000, 1]), np.zeros(5)))
    if cut_short:
        for kept in (session.data_dir / "rig").iterdir():
            kept.write_bytes(kept.read_bytes()[:40])
    again = FakeSession()
    again.data_dir, again.state, again.observer.palette = session.data_dir, session.state, None
    again.setup.restore()
    seen = again.observer
    assert [x is None for x in (seen.camera, seen.palette, seen.empty)] == [cut_short] * 3
    assert not seen.placed if cut_short else (seen.placed["B"] == SHEET_CORNERS).all()
    again.observer, again.state = FakeSession().observer, FakeSession().state
    again.setup.restore()  # another match measures its own
    assert again.observer.camera is None


def test_the_first_card_waits_for_signatures_where_the_house_asks(client, session):
    rules = session.rules.model_copy(update={"sign_off": "asked"})
    session.create_match(["Ann", "Ben"], rules=rules)
    page = client.web.get("/referee").text
    assert "Sign the set-up" in page and 'data-do="DrawCard"' not in page
    with pytest.raises(IllegalCommand, match="have not signed the set-up"):
        session.command(DrawCard())
    client.post("measure/mats")
    client.post("sign", name_A="Ann", name_B="Ben")
    assert 'data-do="DrawCard"' in client.web.get("/referee").text
    assert "✓ Ann, Ben" in client.web.get("/referee").text


def test_a_set_up_signed_before_the_match_holds_for_the_next_one(client, session):
    client.post("measure/mats")
    client.post("sign", name_A="Ann", name_B="Ben")
    session.create_match(["Ann", "Ben"])
    assert "Signed by Ann and Ben" in client.page()


def test_a_camera_that_gives_no_picture_is_one_line(client, session, monkeypatch):
    def lost(after=-1, timeout_s=1.0):
        raise DeviceLost("camera fake: unplugged")

    monkeypatch.setattr(session.camera, "latest", lost)
    answer = client.post("measure/mats")
    assert answer.status_code == 409 and "unplugged" in answer.text
    monkeypatch.setattr(session.camera, "latest", lambda after, timeout_s: None)
    assert "gives no picture" in client.post("measure/mats").text


def test_people_read_what_could_not_be_done_on_the_set_up_page_itself(client, session, monkeypatch):
    monkeypatch.setattr(session.camera, "latest", lambda after, timeout_s: None)
    form = {"data": {"csrf_token": client.token}, "headers": {"Accept": "text/html"}, "follow_redirects": True}
    page = client.web.post("/setup/measure/mats", **form)
    assert page.status_code == 200 and page.request.path == "/setup"
    assert "camera fake gives no picture" in page.text and "Not possible now" not in page.text
    assert "gives no picture" not in client.page()  # said once
    german = client.web.post("/setup/measure/mats?lang=de", **form).text
    assert "Kamera fake" in german and "gives no picture" not in german


def test_a_lost_camera_is_named_where_another_one_is_chosen(client, session, monkeypatch):
    told, lost = session.snapshot, sentence("camera_shut")
    live = {**told()["live"], "camera": {"name": "9", "fps": 0.0, "dropped": 0, "lost": lost}}
    monkeypatch.setattr(session, "snapshot", lambda: {**told(), "live": live})
    client.web.application.extensions["referee.choices"] = SimulatedChoices()
    page = client.page()
    assert "Camera 0 gives no picture. Plug it in, or choose another one here." in page and "9: was not found" in page


def test_the_record_says_which_camera_was_signed(client, session):
    session.create_match(["Ann", "Ben"])
    client.post("measure/mats")
    client.post("sign", name_A="Ann", name_B="Ben")
    assert session.events[-1].data["record"]["camera"] == "fake"


def test_the_picture_shows_the_fields_found(client):
    answer = client.web.get("/setup/mats.jpg")
    drawn = cv2.imdecode(np.frombuffer(answer.data, np.uint8), cv2.IMREAD_COLOR)
    blue = (np.abs(drawn.astype(int) - (171, 92, 11)).max(axis=2) < 60).sum()
    assert drawn.shape == (720, 1280, 3) and blue > 300


@pytest.mark.parametrize("name", ["camera.yaml", "camera_2.yaml"])
def test_eight_views_of_the_board_make_a_camera_file(client, session, monkeypatch, name):
    beside = SimpleNamespace(camera=FakeCamera(), observer=FakeObserver(session.piece_set), is_first=False)
    seen, session.second = (beside, beside) if name == "camera_2.yaml" else (session, None)
    board = cv2.cvtColor(charuco_board().generateImage((840, 600)), cv2.COLOR_GRAY2BGR)
    rng = np.random.default_rng(1)

    def view(after, timeout_s):
        """The board held somewhere before a lens of 1000 px: one unit is a pixel of its drawing."""
        turned = cv2.Rodrigues(rng.uniform(-0.4, 0.4, 3))[0]
        centre = np.array([rng.uniform(-380, 380), rng.uniform(-160, 160), rng.uniform(1000, 1300)])
        pose = np.c_[turned[:, :2], centre - turned[:, :2] @ (420, 300)]
        turn = np.array([[1000.0, 0, 640], [0, 1000, 360], [0, 0, 1]]) @ pose
        return Frame(cv2.warpPerspective(board, turn, (1280, 720), borderValue=(190, 190, 190)), 1, 0.0)

    monkeypatch.setattr(seen.camera, "latest", view)
    for _ in range(14):
        client.post("measure/lens")
    assert "Views of the lens board" in client.page()
    assert load_camera(session.data_dir / name).width == 1280
    assert seen.observer.camera.focal_px == pytest.approx(1000, rel=0.03)
    assert [view.observer.camera is None for view in session.views] == [
        view.camera is not seen.camera for view in session.views
    ]
    assert "Used from now on" in client.page()


def test_camera_and_box_are_chosen_on_the_page(session):
    choices = SimulatedChoices()
    client = Client(session)
    client.web.application.extensions["referee.choices"] = choices
    page = client.page()
    assert "/dev/ttyUSB0" in page and "<b>Brio 100</b>" in page and BRIO in page and "<small>number 0</small>" in page
    looked = client.web.get(f"/setup/camera.jpg?source={BRIO}")
    small = cv2.imdecode(np.frombuffer(looked.data, np.uint8), cv2.IMREAD_COLOR)
    assert small.shape == (180, 320, 3) and abs(int(small.mean()) - 77) < 3
    assert client.web.get("/setup/camera.jpg?source=0").status_code == 409
    client.post("devices", camera="1", address="", box="auto")
    assert (choices.camera, choices.box) == ("1", "auto")
    client.post("devices", camera="1", address="rtsp://phone/video")
    assert choices.camera == "rtsp://phone/video"
    client.post("measure/mats")
    client.post("devices", camera=choices.camera, camera_2=BRIO, address_2="")
    page = client.page()
    assert choices.second == BRIO and f'name="camera_2" value="{BRIO}" checked' in page and "✓ pass" not in page
    client.post("devices", camera_2="none", address_2="")
    client.post("measure/mats")
    assert client.post("devices", camera="0", camera_2="9").status_code == 409  # the first has changed all the same
    assert (choices.camera, choices.second) == ("0", "none") and "✓ pass" not in client.page()
    answer = client.post("devices", camera="9")
    assert answer.status_code == 409 and "no camera" in answer.text
    client.post("measure/mats")
    client.post("sign", name_A="Ann", name_B="Ben")
    assert client.post("devices", camera="0").status_code == 409
    assert client.web.get(f"/setup/camera.jpg?source={BRIO}").status_code == 409  # none is opened beside a match


def test_a_simulator_has_no_devices_to_choose(client):
    assert client.post("devices", camera="1").status_code == 404
