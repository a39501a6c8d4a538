"""Who may change what: closed unless marked ``@public``, PIN, CSRF token, origin, headers.

The rule, applied to every request before any view: a view is for the referee unless it is
marked ``@public``; whatever is not GET or HEAD needs this session's CSRF token and must come from
our own pages. Without a PIN (loopback only) everybody is the referee, and the Host header is held
to loopback names, so that a foreign site cannot reach the port by a name of its own.
"""

from __future__ import annotations

import hmac
import math
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

import flask
from werkzeug.security import check_password_hash, generate_password_hash

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
READING = frozenset({"GET", "HEAD", "OPTIONS"})
MAX_BODY_BYTES = 8 * 1024 * 1024
"""Largest request body: a deck or a piece set is kilobytes, a picture of a rig some megabytes."""

PIN_TRIES, PIN_WINDOW_S = 5, 60.0
"""Wrong PINs a viewer's address may give in the window; then 429 until it is over."""

PIN_TRIES_ALL = 40
"""Wrong PINs from all addresses together in the window: a network of guessers gains nothing."""

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "media-src 'self' blob:; connect-src 'self'; font-src 'self'; manifest-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}

View = TypeVar("View", bound=Callable[..., Any])


def public(view: View) -> View:
    """Mark a view that anybody on the network may ask for."""
    view.is_public = True  # type: ignore[attr-defined]
    return view


@dataclass
class Door:
    """The referee's PIN, hashed, and the wrong tries of late. ``pin`` None leaves the door open."""

    pin: str | None
    now_s: Callable[[], float]
    _hash: str = ""
    _wrong: list[tuple[float, str]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        if self.pin is not None:
            self._hash = generate_password_hash(self.pin, method="scrypt")
            self.pin = ""  # only the hash is kept

    @property
    def locked(self) -> bool:
        """Whether a PIN is needed at all."""
        return self.pin is not None

    def wait_s(self, address: str) -> float:
        """Seconds until ``address`` may try again, 0 when it may."""
        now = self.now_s()
        with self._lock:
            self._wrong = [row for row in self._wrong if now - row[0] < PIN_WINDOW_S]
            mine = [at for at, who in self._wrong if who == address]
            everyone = [at for at, _ in self._wrong]
        waits = [
            PIN_WINDOW_S - (now - tries[0])
            for tries, limit in ((mine, PIN_TRIES), (everyone, PIN_TRIES_ALL))
            if len(tries) >= limit
        ]
        return max(waits, default=0.0)

    def opens(self, pin: str, address: str) -> bool:
        """Whether the PIN is right. A try counts before it is looked at: many at once gain nothing."""
        if not self.locked:
            return True
        row = (self.now_s(), address)
        with self._lock:
            self._wrong.append(row)
        right = check_password_hash(self._hash, pin)
        if right:
            with self._lock:
                self._wrong.remove(row)
        return right


def csrf_token() -> str:
    """This visitor's token, made at first use and kept in the signed session cookie."""
    if "csrf" not in flask.session:
        flask.session["csrf"] = secrets.token_urlsafe(24)
    return flask.session["csrf"]


def is_referee() -> bool:
    """Whether this visitor may change things."""
    return not _door().locked or flask.session.get("referee") is True


def log_in(name: str) -> None:
    """Make this visitor the referee, under a fresh token."""
    flask.session.clear()
    flask.session.update(referee=True, name=name[:40])
    csrf_token()


@dataclass(frozen=True)
class Refused:
    """Why a PIN did not open the door: a text's key, the HTTP status, headers."""

    key: str
    status: int
    headers: dict[str, str]


def try_pin(pin: str, name: str) -> Refused | None:
    """Log this visitor in, or say why not. Wrong PINs are counted by address."""
    door, address = _door(), flask.request.remote_addr or ""
    wait_s = door.wait_s(address)
    if wait_s > 0:
        return Refused("login.wait", 429, {"Retry-After": str(math.ceil(wait_s))})
    if len(pin) > 200 or not door.opens(pin, address):
        return Refused("login.wrong", 401, {})
    log_in(name.strip())
    return None


def _door() -> Door:
    return flask.current_app.extensions["referee.door"]


def _same_origin() -> bool:
    """Whether the browser says that the request comes from one of our own pages (or is no browser)."""
    if flask.request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
        return False
    origin = flask.request.headers.get("Origin")
    return origin is None or urlsplit(origin).netloc == flask.request.host


def _token_fits() -> bool:
    given = flask.request.headers.get("X-CSRF-Token") or flask.request.form.get("csrf_token", "")
    return hmac.compare_digest(given.encode(), flask.session.get("csrf", "").encode()) and bool(given)


def _host_is_ours() -> bool:
    return _door().locked or (urlsplit("//" + flask.request.host).hostname or "") in LOOPBACK


def _guard() -> flask.Response | None:
    """Before every view; see the module's head. Gives the refusal, or None to go on."""
    request = flask.request
    if not _host_is_ours():
        flask.abort(421, "this address is not served here")
    view = flask.current_app.view_functions.get(request.endpoint or "")
    if view is None:
        return None  # 404 or 405 follow
    is_open = getattr(view, "is_public", False) or request.endpoint == "static"
    if not is_open and not is_referee():
        if request.method == "GET" and request.accept_mimetypes.best == "text/html":
            return flask.redirect(flask.url_for("door.login", next=request.path))  # type: ignore[return-value]
        flask.abort(401, "log in with the referee's PIN")
    if request.method not in READING and not (_same_origin() and _token_fits()):
        flask.abort(403, "the request carries no valid CSRF token or comes from another site")
    return None


def _headers(response: flask.Response) -> flask.Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if response.mimetype in ("text/html", "application/json"):
        response.headers.setdefault("Cache-Control", "no-store")
    return response


def secure(app: flask.Flask, pin: str | None, now_s: Callable[[], float]) -> None:
    """Put the guard before and the headers behind every view of the app."""
    app.extensions["referee.door"] = Door(pin, now_s)
    app.config.update(
        MAX_CONTENT_LENGTH=MAX_BODY_BYTES,
        MAX_FORM_MEMORY_SIZE=512 * 1024,
        MAX_FORM_PARTS=200,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Strict",
        SESSION_COOKIE_NAME="referee",
    )
    app.before_request(_guard)
    app.after_request(_headers)


def needs_pin() -> bool:
    """Whether this dashboard has a PIN at all."""
    return _door().locked
