"""Who is logged in as referee: a list beside the record, from which a login can be taken at any time.

A cookie names its login by a random key. It holds while the login is on this list: logging out, the console, a new
PIN and time take it off, also for a copy of the cookie, and a restart brings nothing back. The list is a file of the
data folder, so that who was logged in still is after a restart. Flask-Login keeps no list: a copied cookie outlives the
logout there.
"""

import hashlib
import hmac
import json
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from referee.files import write_whole

LOGIN_LIFETIME_S = 12 * 3600.0
"""A login ends by itself after this long: a day of play."""

MOST = 50
"""Logins at once; the oldest goes when one more comes."""


@dataclass(frozen=True)
class Login:
    """One referee at one browser. ``key`` stands in its cookie, ``number`` on the console; ``since_s`` is UTC epoch."""

    number: int
    key: str
    name: str
    address: str
    since_s: float

    @property
    def since(self) -> datetime:
        """The time of day at which it began, aware, in UTC."""
        return datetime.fromtimestamp(self.since_s, UTC)


class Logins:
    """The logins that hold now. ``now_s`` gives UTC epoch seconds. Thread-safe."""

    def __init__(self, path: Path, fingerprint: str, now_s: Callable[[], float]) -> None:
        self._path, self._fingerprint, self._now_s = path, fingerprint, now_s
        self._lock = threading.Lock()
        self._last, self._logins = self._read()

    def begin(self, name: str, address: str) -> Login:
        """A new login. On a full disk it holds until the program ends."""
        with self._lock:
            login = Login(self._last + 1, secrets.token_urlsafe(18), name[:40], address, self._now_s())
            kept = (self._holding() + [login])[-MOST:]
            self._last, self._logins = login.number, kept
            with suppress(OSError):
                self._write(self._last, kept)
            return login

    def holds(self, key: object) -> Login | None:
        """The login of that key, or None when it has ended or never was."""
        with self._lock:
            return next((login for login in self._holding() if login.key == key), None)

    def rename(self, key: object, name: str) -> None:
        """Write another name beside a login."""
        self._keep(lambda login: replace(login, name=name[:40]) if login.key == key else login)

    def end(self, key: object) -> None:
        """End the login of that key, for every copy of its cookie."""
        self._keep(lambda login: None if login.key == key else login)

    def end_number(self, number: int) -> None:
        """End a login by the number that the console shows."""
        self._keep(lambda login: None if login.number == number else login)

    def rows(self) -> list[Login]:
        """All logins that hold, oldest first."""
        with self._lock:
            return self._holding()

    def _keep(self, changed: Callable[[Login], Login | None]) -> None:
        with self._lock:
            self._logins = [new for login in self._holding() if (new := changed(login)) is not None]
            try:
                self._write(self._last, self._logins)
            except OSError:  # a login that has ended must not come back after a restart: then none does
                with suppress(OSError):
                    self._path.unlink(missing_ok=True)

    def _holding(self) -> list[Login]:
        now_s = self._now_s()
        return [login for login in self._logins if 0 <= now_s - login.since_s < LOGIN_LIFETIME_S]

    def _read(self) -> tuple[int, list[Login]]:
        """The list of a run before, nothing of it when the PIN was another one or the file cannot be read."""
        try:
            said = json.loads(self._path.read_text(encoding="utf-8"))
            last, logins = int(said["last"]), [Login(**row) for row in said["logins"]]
            same = hmac.compare_digest(str(said["pin"]), self._fingerprint)
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return 0, []
        return last, logins if same else []

    def _write(self, last: int, logins: list[Login]) -> None:
        said = {"pin": self._fingerprint, "last": last, "logins": [asdict(login) for login in logins]}
        write_whole(self._path, json.dumps(said, ensure_ascii=False).encode(), 0o600)


def fingerprint(pin: str | None, secret_key: bytes) -> str:
    """Tells one PIN from another and, without the key, nothing about either."""
    return hmac.new(secret_key, b"pin:" + (pin or "").encode(), hashlib.sha256).hexdigest()
