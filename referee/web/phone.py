"""The page that makes a phone the camera, served by https on a port of its own: nothing else is to be had there.

Its address is a secret. Whoever takes the place first gets a key as a cookie, and only that browser may send pictures.
"""

import secrets
from pathlib import Path

import flask

from referee.devices.phone import MOST_BYTES, PhoneCamera
from referee.web.base_app import TablelessSession, base_app
from referee.web.security import HEADERS, public

COOKIE = "phone"
CAMERA_ALLOWED = HEADERS["Permissions-Policy"].replace("camera=()", "camera=(self)")


def phone_app(camera: PhoneCamera, data_dir: Path) -> flask.Flask:
    """The page and what it sends. Nobody can log in here."""
    session, nobodys = TablelessSession(data_dir, camera.clock), secrets.token_urlsafe()
    app = base_app(session, nobodys, "0.0.0.0", secret_key=secrets.token_bytes(32), tls=True)
    app.config["MAX_CONTENT_LENGTH"] = MOST_BYTES
    app.jinja_env.globals["nav_pages"] = []

    @app.before_request
    def admit() -> None:
        """The secret, and where pictures are sent the key as well."""
        given = (flask.request.view_args or {}).pop("secret", camera.secret)
        if not secrets.compare_digest(given.encode(), camera.secret.encode()):
            flask.abort(404)
        if flask.request.endpoint in ("clock", "records") and not camera.holds(_key()):
            flask.abort(403, "another phone is the camera")

    @app.get("/<secret>/")
    @public
    def page() -> flask.Response:
        taken = camera.taken and not camera.holds(_key())
        response = flask.make_response(flask.render_template("phone.html", taken=taken))
        response.headers["Permissions-Policy"] = CAMERA_ALLOWED
        return response

    @app.post("/<secret>/begin")
    @public
    def begin() -> flask.Response:
        key, run = camera.begin(_key())
        response = flask.jsonify(run=run)
        path = flask.request.path.removesuffix("begin")
        response.set_cookie(COOKIE, key, path=path, secure=True, httponly=True, samesite="Strict")
        return response

    @app.post("/<secret>/clock")
    @public
    def clock() -> flask.Response:
        host_s = camera.page_clock.trip(flask.request.get_data())
        return flask.jsonify(host_s=host_s, bound_s=camera.frame_error_s)

    @app.post("/<secret>/records")
    @public
    def records() -> flask.Response:
        camera.take(flask.request.get_data())
        return flask.Response(status=204)

    return app


def _key() -> str:
    return flask.request.cookies.get(COOKIE, "")
