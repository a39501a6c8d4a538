"""Setting up ``/setup``: mats, lens, empty table, colours; measured, signed by both players, frozen."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import cv2
import flask
import numpy as np

from calibration.camera import camera_text
from calibration.lens import LEAST_VIEWS, BoardView, find_board, fit_lens
from calibration.mat import Mats
from calibration.print_sheets import charuco_pdf
from cards.sentences import sentence
from referee.core import refuse_if
from referee.devices.phone import PhoneCamera
from referee.devices.ports import Camera
from referee.errors import DeviceLost, IllegalCommand, RefereeError
from referee.fields import displayable
from referee.recording.folder import of_camera, write_json
from referee.recording.writer import write_file
from referee.session.device_choice import DeviceChoices
from referee.session.previews import jpeg_of
from referee.session.second_view import CameraView
from referee.session.session import Session
from referee.vision.image.aids import believed_mats
from referee.vision.observer import Observer
from referee.web.board_views import Say
from referee.web.pages import rig_checks
from referee.web.pages.evening import qr_svg
from referee.web.pages.login import fault_text, our_fault, wants_json
from referee.web.pages.rig_checks import Number
from referee.web.streaming.fragments import LivePage

STEPS = ("mats", "lens", "empty", "colors")
FRAME_WAIT_S = 10.0
"""A webcam takes seconds to its first picture, and so does a simulated table on a slow machine."""
SHOWN_PX, LISTED_PX = 1280, 320
"""Width at most of the picture with the mats, and of each camera's in the list."""

MOST_SHARE = 2.0
"""Of the picture's width or height: a corner that lies farther from its left top is none."""

SETTLE_S = 1.5
"""A webcam that was told to choose its exposure, white balance and focus anew has chosen by then."""


@dataclass
class Setting:
    """How far the setting up has come: numbers per step, and each camera's views of the lens board."""

    results: dict[str, tuple[Number, ...]] = field(default_factory=dict)
    views: dict[int, list[BoardView]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def passed(self, step: str) -> bool | None:
        """Whether the step has passed; None before it was measured."""
        return all(n.passed for n in self.results[step]) if step in self.results else None

    @property
    def failed(self) -> list[str]:
        """Steps that were measured and have not passed."""
        return [step for step in STEPS if self.passed(step) is False]

    def to_json(self) -> dict:
        """For the record: every number of every step."""
        return {"steps": {s: [n.to_json() for n in rows] for s, rows in self.results.items()}}

    def forget(self) -> None:
        """Another camera: no number holds any more."""
        self.results.clear()
        self.views.clear()


def _values(session: Session, t: Say) -> dict[str, Any]:
    """What the devices say."""
    snapshot = session.snapshot()
    return {"live": snapshot["live"], "alarms": snapshot["alarms"]}


PAGE = LivePage("setup", ("devices",), _values)


def blueprint(session: Session) -> flask.Blueprint:
    """The page, its measurements and its signatures."""
    pages = flask.Blueprint("setup", __name__, url_prefix="/setup")
    setting = Setting()

    @pages.get("")
    def setup() -> str:
        live = PAGE.for_visitor(session)
        match = session.snapshot().get("match") or {}
        return flask.render_template(
            "setup.html",
            parts=live,
            setting=setting,
            steps=STEPS,
            match=match,
            signed=session.setup.signed,
            failed=setting.failed,
            choices=_choices(),
            phone=_phone_of(session),
            views=list(enumerate(session.views, 1)),
            lost=session.snapshot()["live"]["camera"].get("lost"),
            limits=rig_checks.LIMITS,
        )

    @pages.post("/devices")
    def devices() -> flask.typing.ResponseReturnValue:
        session.setup.may_change()
        _change_over(_choices(), flask.request.form, setting)
        return flask.redirect(flask.url_for("setup.setup", _anchor="devices"), 303)

    @pages.post("/measure/<step>")
    def measure(step: str) -> flask.typing.ResponseReturnValue:
        if step not in STEPS:
            flask.abort(404, "no such step")
        session.setup.may_change()
        _measure(session, setting, step)
        return flask.redirect(flask.url_for("setup.setup", _anchor=step), 303)

    @pages.post("/sign")
    def sign() -> flask.typing.ResponseReturnValue:
        _sign(session, setting, flask.request.form)
        return flask.redirect(flask.url_for("setup.setup", _anchor="sign"), 303)

    @pages.post("/thaw")
    def thaw() -> flask.typing.ResponseReturnValue:
        session.setup.reopen(displayable(flask.request.form.get("who", ""), 40) or _name())
        return flask.redirect(flask.url_for("setup.setup", _anchor="sign"), 303)

    pages.register_error_handler(RefereeError, _fault)
    _prints(pages, session)
    _phone(pages, session)
    _by_hand(pages, session, setting)
    return pages


def _by_hand(pages: flask.Blueprint, session: Session, setting: Setting) -> None:
    """Where a mat lies whose markers are not read."""

    @pages.post("/place")
    def place() -> flask.typing.ResponseReturnValue:
        form = flask.request.form
        zone, number = form.get("zone"), form.get("camera", 1, int)
        if zone not in rig_checks.PLAYED_ZONES:
            flask.abort(404, "no such mat")
        image = _frame(_view(session, number).camera)
        session.setup.place(zone, _corners(form.get("corners", "")), image, number)
        _measure(session, setting, "mats")
        return flask.redirect(flask.url_for("setup.setup", _anchor="mats"), 303)


def _fault(error: RefereeError) -> flask.typing.ResponseReturnValue:
    """What could not be done is said on the page itself, where another camera can be chosen."""
    if wants_json():
        return our_fault(error)
    flask.flash(fault_text(error.wording))
    return flask.redirect(flask.url_for("setup.setup", _anchor="fault"), 303)


def _prints(pages: flask.Blueprint, session: Session) -> None:
    """The pages' pictures: the sheet for the lens step, how the mats lie in the camera's picture, the cameras'."""

    @pages.get("/charuco.pdf")
    def charuco() -> flask.Response:
        return flask.Response(charuco_pdf(lang=flask.g.lang), mimetype="application/pdf")

    @pages.get('/<any("mats.jpg", "mats_2.jpg"):name>')
    def mats(name: str) -> flask.Response:
        view = _view(session, 1 if name == "mats.jpg" else 2)
        image = _frame(view.camera)
        return _shown(rig_checks.draw_mats(image, _mats(view.observer, image)), SHOWN_PX)

    @pages.get("/camera.jpg")
    def camera() -> flask.Response:
        choices = _choices() or flask.abort(404, "devices cannot be changed here")
        session.setup.may_change()
        return _shown(choices.picture(flask.request.args.get("source", "")), LISTED_PX)


def _view(session: Session, number: int) -> CameraView:
    """What the first camera or the second sees; 404 without such a one."""
    return dict(enumerate(session.views, 1)).get(number) or flask.abort(404, "there is no such camera")


def _shown(image: np.ndarray, width_px: int) -> flask.Response:
    """A picture (h, w, 3) no wider than that, which is another the next time."""
    return flask.Response(jpeg_of(image, width_px), mimetype="image/jpeg", headers={"Cache-Control": "no-store"})


def _phone(pages: flask.Blueprint, session: Session) -> None:
    """The secret link by which a phone becomes the camera."""

    def phone() -> PhoneCamera:
        return _phone_of(session) or flask.abort(404, "no camera is a phone")

    @pages.get("/phone.svg")
    def code() -> flask.Response:
        return flask.Response(qr_svg(phone().link), mimetype="image/svg+xml", headers={"Cache-Control": "no-store"})

    @pages.post("/phone")
    def free() -> flask.typing.ResponseReturnValue:
        phone().free()
        return flask.redirect(flask.url_for("setup.setup", _anchor="phone"), 303)


def _phone_of(session: Session) -> PhoneCamera | None:
    return next((camera for camera in session.cameras if isinstance(camera, PhoneCamera)), None)


def _choices() -> DeviceChoices | None:
    offered: DeviceChoices | None = flask.current_app.extensions["referee.choices"]
    return offered


def _name() -> str:
    """Who the referee logged in as."""
    return flask.session.get("name") or "referee"


def _change_over(choices: DeviceChoices | None, form: Mapping[str, str], setting: Setting) -> None:
    """Take the camera or the box asked for. Raises DeviceLost or IllegalCommand; then the old one stays."""
    if choices is None:
        flask.abort(404, "devices cannot be changed here")
    before = choices.camera, choices.second
    try:
        for number, name, address in ((1, "camera", "address"), (2, "camera_2", "address_2")):
            if form.get(name):
                choices.use_camera(form.get(address, "").strip() or form[name], number)
    finally:
        if (choices.camera, choices.second) != before:
            setting.forget()
    if form.get("box"):
        choices.use_box(form["box"])


def _sign(session: Session, setting: Setting, form: Mapping[str, str]) -> None:
    """Both names, both different; steps that failed only when the players say that they saw it.

    Raises IllegalCommand. The numbers go into the match's record, and beside it as ``setup.json``.
    """
    names = tuple(displayable(form.get(f"name_{zone}", ""), 40) for zone in rig_checks.PLAYED_ZONES)
    refuse_if("mats" not in setting.results, "measure_first")
    refuse_if(setting.failed and form.get("anyway") != "yes", "not_passed", steps=list(setting.failed))
    session.setup.sign(names, setting.to_json(), _name())
    match_id = (session.snapshot().get("match") or {}).get("match_id", "")
    kept = {"signed": list(names), "match_id": match_id, **setting.to_json()}
    write_json(session.data_dir / "setup.json", kept)


def _frame(camera: Camera) -> np.ndarray:
    """The newest picture. Raises DeviceLost when none comes."""
    frame = camera.latest(-1, FRAME_WAIT_S)
    if frame is None:
        raise DeviceLost(sentence("no_picture", name=camera.name))
    return frame.image


def _corners(shares: str) -> np.ndarray | None:
    """(4, 2) corners as shares of the picture, "x,y" each; None for none. Raises IllegalCommand for anything else."""
    if not shares:
        return None
    try:
        corners = np.array([one.split(",") for one in shares.split()], float)
    except ValueError:
        corners = np.empty(0)
    refuse_if(corners.shape != (4, 2) or not (np.abs(corners) <= MOST_SHARE).all(), "no_sheet")
    return corners


def _measure(session: Session, setting: Setting, step: str) -> None:
    """Raises IllegalCommand while somebody else measures."""
    if not setting.lock.acquire(blocking=False):
        raise IllegalCommand(sentence("measuring"))
    try:
        setting.results[step] = tuple(_measured(session, setting, step))
        session.setup.keep()
    finally:
        setting.lock.release()


def _measured(session: Session, setting: Setting, step: str) -> list[Number]:
    if step == "mats":
        session.judging.set_up_anew()
    first, *second = enumerate(session.views, 1)
    numbers = _measured_by(session, setting, step, *first)
    for number, view in second:
        name = view.camera.name
        try:
            beside = _measured_by(session, setting, step, number, view)
        except RefereeError as error:
            raise DeviceLost(sentence("camera_lost", name=name, fault=error.wording)) from None
        numbers += [replace(one, camera=name) for one in beside]
    return [*_empty_numbers(session), *numbers] if step == "empty" else numbers


def _measured_by(session: Session, setting: Setting, step: str, number: int, view: CameraView) -> list[Number]:
    """What one camera's picture says, and its observer learns of it. Raises DeviceLost, CannotSee, FewPieces."""
    camera, observer = view
    if step == "mats":  # exposure, white balance and focus as the camera chooses them in today's light, then held
        camera.adjust(camera.settings.release)
        if camera.settings.automatic:
            time.sleep(SETTLE_S)
        camera.adjust(camera.settings.hold)
    image = _frame(camera)
    if step == "lens":
        return _lens(session, setting, number, image)
    if step == "mats":
        numbers = rig_checks.mats_numbers(image, _mats(observer, image), observer.placed)
        return [*numbers, *rig_checks.camera_numbers(camera.status(), camera.settings)]
    if step == "empty":
        observer.learn_empty(image)
        return []
    palette = observer.learn_colors(image)
    factor = observer.learn_sizes(image)
    return [*rig_checks.color_numbers(palette, int(palette.learnt.sum())), rig_checks.sizes_number(factor)]


def _mats(observer: Observer, image: np.ndarray) -> Mats:
    """The mats in a picture by itself, or where they were placed by hand."""
    return believed_mats(image, observer.camera, {}, None, observer.placed)


def _lens(session: Session, setting: Setting, number: int, image: np.ndarray) -> list[Number]:
    """With the lens board in that camera's view: one more view of it, and the fit once there are enough. Else a check.

    The fitted lens is used from now on when its numbers pass (and is kept as ``camera.yaml`` or ``camera_2.yaml`` in
    the data folder, for ``--camera-file`` at later starts).
    """
    camera, observer = session.views[number - 1]
    view = find_board(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
    if view is None:
        return rig_checks.lens_numbers(observer.camera, image)
    views = setting.views[number] = [v for v in setting.views.get(number, ()) if v.size == view.size] + [view]
    if len(views) < LEAST_VIEWS:
        return rig_checks.board_numbers(views, None)
    fit = fit_lens(views)
    numbers = rig_checks.board_numbers(views, fit)
    if all(one.passed for one in numbers):
        session.setup.use_lens(fit.camera, _name(), number)
        write_file(session.data_dir / of_camera("camera.yaml", number), camera_text(fit.camera, camera.name))
    return [*numbers, rig_checks.Number("used", int(observer.camera is fit.camera), 1, None)]


def _empty_numbers(session: Session) -> list[Number]:
    """How full the gate sees each field: an empty table shows next to nothing of pieces, and no hand."""
    gates = session.snapshot()["live"]["gates"]
    fills = (Number("fill", round(100 * g["fill"], 1), None, 2.0, "%", zone=zone) for zone, g in sorted(gates.items()))
    return [*fills, Number("hands", sum(bool(g["hand"]) for g in gates.values()), None, 0)]
