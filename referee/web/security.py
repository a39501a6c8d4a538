"""Who may change what: closed unless marked ``@public``, PIN, origin, headers.

The rule, applied to every request before any view: a view is for the referee unless it is
marked ``@public``; whatever is not GET or HEAD must come from our own pages, as every browser of today says
(``Sec-Fetch-Site``, and ``Origin`` also without encryption), or from no browser at all, which has nobody's cookies:
tokens in forms add nothing to that. Without a PIN (loopback only) everybody is the referee, and the Host header is held
to loopback names, so that a foreign site cannot reach the port by a name of its own.

Wrong PINs are counted by who gives them (``referee.web.logins`` keeps who gave the right one): a browser that has
logged in before by the cookie it got then, any other by its address. Nobody can lock out anybody else; what others
try is shown on the console. Who has not logged in gets no session cookie.

flask-talisman would set five of the seven headers, and overwrite the policy that drawings bring of their own.
Flask-Limiter counts a wrong PIN after its answer, so that many at once would all be looked at.
"""

import hmac
import ipaddress
import math
import secrets
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

import flask
from itsdangerous import BadSignature, URLSafeTimedSerializer
from werkzeug.security import check_password_hash, generate_password_hash

from referee.fields import displayable
from referee.web.logins import Logins

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
MAX_BODY_BYTES = 8 * 1024 * 1024
"""Largest request body: a deck or a piece set is kilobytes, a picture of a rig some megabytes."""

PIN_LIMITS = ((5, 60.0), (20, 3600.0))
"""Wrong PINs that one visitor may give, and in how many seconds; then 429 until it is over."""

BRAKE_AFTER, BRAKE_S = 100, 1.0
"""After so many wrong PINs of late from browsers that have never logged in, all of these together may try once in so
many seconds: many addresses gain nothing, and who has logged in before does not wait."""

WAITING_GUESSES = 3
"""So many PINs of such browsers may wait to be looked at; others are told to wait."""

PIN_RIGHT = "referee.pin_right"
"""Under this name the server says whether the request's PIN is right, None when nobody has looked yet (``Guess``)."""

REMEMBERED_S = 3600.0
"""Wrong PINs are counted and shown on the console for so long."""

MOST_REMEMBERED = 20_000
"""Wrong PINs kept at most; the oldest are forgotten first."""

SESSION_COOKIE, KNOWN = "referee", "known"
"""How the names of the cookies begin: of the session, and of a browser that has logged in before (``_cookie_name``)."""

MARK = f"{KNOWN} "
"""How the mark of a browser that has logged in before begins; no address does."""

KNOWN_S = 90 * 86_400
"""How long a browser that has logged in is remembered."""

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


class Guess(Exception):
    """A PIN that waits to be looked at. Raised by a view, it is the answer: it asks the server to ``look`` where no
    page waits for that, and then to call the view again."""

    def __init__(self, look: Callable[[], bool]) -> None:
        self.look = look


@dataclass
class Access:
    """The referee's PIN, hashed, and the wrong tries of late. ``pin`` None leaves it open to all.

    ``who`` in its methods is the visitor whose tries are counted together: ``visitor_of`` an address, or the mark
    of a browser that has logged in before.
    """

    pin: str | None
    now_s: Callable[[], float]
    _hash: str = ""
    _wrong: list[tuple[float, str]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(WAITING_GUESSES))

    def __post_init__(self) -> None:
        if self.pin is not None:
            self._hash = generate_password_hash(self.pin, method="scrypt")
            self.pin = ""  # only the hash is kept

    @property
    def locked(self) -> bool:
        """Whether a PIN is needed at all."""
        return self.pin is not None

    def wait_s(self, who: str) -> float:
        """Seconds until this visitor may try again, 0 when he may. What others do makes him wait ``BRAKE_S`` at most,
        and never one who has logged in before."""
        now, late = self.now_s(), self._late()
        mine = [at for at, name in late if name == who]
        waits = [window_s - (now - mine[-tries]) for tries, window_s in PIN_LIMITS if len(mine) >= tries]
        if not who.startswith(MARK):
            unknown = [at for at, name in late if not name.startswith(MARK)]
            waits += [BRAKE_S - (now - unknown[-1])] if len(unknown) >= BRAKE_AFTER else []
        return max(0.0, *waits) if waits else 0.0

    def guess(self, pin: str, who: str) -> Guess | None:
        """This PIN, to be looked at; None where too many others wait. It counts already: many at once gain nothing."""
        waits = not who.startswith(MARK)
        if waits and not self._waiting.acquire(blocking=False):
            return None
        with self._lock:
            self._wrong.append((self.now_s(), who))
        return Guess(partial(self._opens, pin, who, waits))

    def _opens(self, pin: str, who: str, waits: bool) -> bool:
        try:
            right = not self.locked or check_password_hash(self._hash, pin)
        finally:
            if waits:
                self._waiting.release()
        if right:
            with self._lock:
                self._wrong = [other for other in self._wrong if other[1] != who]
        return right

    def wrong(self) -> list[tuple[str, int]]:
        """Who gave how many wrong PINs of late, the busiest first."""
        return Counter(who for _, who in self._late()).most_common()

    def _late(self) -> list[tuple[float, str]]:
        now = self.now_s()
        with self._lock:
            self._wrong = [row for row in self._wrong if now - row[0] < REMEMBERED_S][-MOST_REMEMBERED:]
            return list(self._wrong)


@lru_cache(4096)
def visitor_of(address: str) -> str:
    """The address whose tries count together: an IPv6 visitor has 2^64 of them, all his own."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))


def is_referee() -> bool:
    """Whether this visitor may change things."""
    if not pin_access().locked:
        return True
    if "login" not in flask.g:  # looked up once a request
        flask.g.login = logins().holds(flask.session.get("login"))
    return flask.g.login is not None


def log_in(name: str) -> None:
    """Make this visitor the referee, and his browser one that was here before."""
    mark = _known_mark() or secrets.token_urlsafe(9)
    login = logins().begin(name, flask.request.remote_addr or "")
    flask.session.clear()
    flask.session.update(login=login.key, name=name)
    flask.g.login, flask.g.known_mark = login, mark


def log_out() -> None:
    """End this visitor's login, for every copy of his cookie too."""
    logins().end(flask.session.get("login"))
    flask.session.clear()
    flask.g.pop("login", None)


def logins() -> Logins:
    """Who is logged in."""
    kept: Logins = flask.current_app.extensions["referee.logins"]
    return kept


@dataclass(frozen=True)
class Refused:
    """Why a PIN was refused: a text's key, the HTTP status, headers."""

    key: str
    status: int
    headers: dict[str, str]


def try_pin(pin: str, name: str) -> Refused | None:
    """Log this visitor in, or say why not. The console is told of either."""
    access, mark = pin_access(), _known_mark()
    who = f"{MARK}{mark}" if mark else visitor_of(flask.request.remote_addr or "")
    right = flask.request.environ.get(PIN_RIGHT)
    if right is None:
        wait_s = access.wait_s(who)
        if wait_s > 0 or (guess := access.guess(pin, who)) is None:
            return Refused("login.wait", 429, {"Retry-After": str(max(1, math.ceil(wait_s)))})
        if PIN_RIGHT in flask.request.environ:
            raise guess
        right = guess.look()
    if right:
        log_in(displayable(name, 40))
    flask.current_app.extensions["referee.session.session"].touch()
    return None if right else Refused("login.wrong", 401, {})


def _known_mark() -> str:
    """The mark that this browser got when it logged in before; empty without one."""
    try:
        return str(
            _marks().loads(flask.request.cookies.get(_cookie_name(flask.current_app, KNOWN), ""), max_age=KNOWN_S)
        )
    except BadSignature:
        return ""


def _marks() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(flask.current_app.secret_key, salt="browser that has logged in")  # type: ignore[arg-type]


def _cookie_name(app: flask.Flask, begin: str) -> str:
    """This program's own cookie name: browsers send a host's cookies to all its ports, and programs on one machine
    must not take one another's away. Follows from the secret key, so it stays after a restart."""
    key = app.secret_key
    assert key, "the key is set before the guard"
    digest = hmac.digest(key.encode() if isinstance(key, str) else key, b"cookie name", "sha256")
    return f"{begin}-{digest[:4].hex()}"


def _remember_browser(response: flask.Response) -> flask.Response:
    if mark := flask.g.get("known_mark"):
        secure = flask.current_app.config["SESSION_COOKIE_SECURE"]
        said = _marks().dumps(mark)
        name = _cookie_name(flask.current_app, KNOWN)
        response.set_cookie(name, said, KNOWN_S, secure=secure, httponly=True, samesite="Strict")
    return response


def pin_access() -> Access:
    """Who may log in."""
    access: Access = flask.current_app.extensions["referee.access"]
    return access


def _same_origin() -> bool:
    """Whether the browser says that the request comes from one of our own pages (or is no browser)."""
    if flask.request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
        return False
    origin = flask.request.headers.get("Origin")
    return origin is None or urlsplit(origin).netloc == flask.request.host


def _guard() -> flask.Response | None:
    """Before every view; see the module's head. Gives the refusal, or None to go on."""
    request = flask.request
    if not pin_access().locked and (urlsplit("//" + flask.request.host).hostname or "") not in LOOPBACK:
        flask.abort(421, "this address is not served here")
    view = flask.current_app.view_functions.get(request.endpoint or "")
    if view is None:
        return None  # 404 or 405 follow
    is_open = getattr(view, "is_public", False) or request.endpoint == "static"
    if not is_open and not is_referee():
        if request.method == "GET" and request.accept_mimetypes.best == "text/html":
            return flask.redirect(flask.url_for("door.login", next=request.path))  # type: ignore[return-value]
        flask.abort(401, "log in with the referee's PIN")
    if request.method not in READING_METHODS and not _same_origin():
        flask.abort(403, "the request comes from another site")
    return None


def _headers(response: flask.Response) -> flask.Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if response.mimetype in ("text/html", "application/json"):
        response.headers.setdefault("Cache-Control", "no-store")
    return response


def guard_app(app: flask.Flask, access: Access, kept: Logins, tls: bool) -> None:
    """Put the guard before and the headers behind every view of the app; ``tls``: cookies travel encrypted only."""
    app.extensions["referee.access"], app.extensions["referee.logins"] = access, kept
    app.jinja_env.globals.update(access=access, logins=kept)
    app.config.update(
        MAX_CONTENT_LENGTH=MAX_BODY_BYTES,
        MAX_FORM_MEMORY_SIZE=512 * 1024,
        MAX_FORM_PARTS=200,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Strict",
        SESSION_COOKIE_SECURE=tls,
        SESSION_COOKIE_NAME=_cookie_name(app, SESSION_COOKIE),
    )
    app.register_error_handler(Guess, lambda guess: flask.Response(guess, direct_passthrough=True))
    app.before_request(_guard)
    app.after_request(_headers)
    app.after_request(_remember_browser)
