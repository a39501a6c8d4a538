"""Public events sent to other programs: by HTTP to an address, by MQTT to a broker.

Each target has a thread and a cursor of its own, the id of the last event that it has taken. What it does not take is
tried again until it does, in the order of the record, also by the next run of the program: the record is the queue. So
an event comes once at least, and never before the one that goes before it; who must not hear one twice looks at its id.
"""

import hashlib
import hmac
import os
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from cards.sentences import sentence
from referee.errors import RefereeError
from referee.files import write_whole
from referee.journal.public_events import EventFeed, PublicEvent, recorded_after
from referee.session.ports import AlarmBoard
from referee.workers import Background

ANSWER_S = 5.0
"""How long a target may take to answer."""

WAIT_S, MOST_WAIT_S = 1.0, 60.0
"""How long a target that failed is left alone: doubled each time, up to so much."""

SIGNATURE = "Referee-Signature"
MQTT_PORTS = {"mqtt": 1883, "mqtts": 8883}
FAULTS = (OSError, ValueError, RuntimeError, HTTPException)
LOOK_S = 0.05


class BadTarget(RefereeError):
    """An address that nothing can be sent to."""


class EventSender(Background):
    """Sends a target every event after the last that it has taken; a new one hears what comes from now on. Where it
    does not take them the console says so. Raises BadTarget."""

    def __init__(self, url: str, secret: bytes, feed: EventFeed, data_dir: Path, alarms: AlarmBoard) -> None:
        super().__init__("events out")
        self._address, self._secret, self._feed, self._alarm = _checked(url, secret), secret, feed, alarms.alarm
        digest = hashlib.sha256(url.encode()).hexdigest()[:16]
        self._code, self._cursor = f"notify {digest}", data_dir / "notified" / digest
        self._cursor.parent.mkdir(parents=True, exist_ok=True)
        if not self._cursor.exists():
            self._keep(feed.first_id)
        last = self._cursor.read_text(encoding="utf-8")
        self._waiting, self._place = recorded_after(feed.record, feed.table, last), len(feed.events)

    def _run(self) -> None:
        while not self._closing.is_set():
            for event in self._waiting:
                if not self._delivered(event):
                    return
                self._keep(event.id)
            self._waiting = self._feed.events[self._place :]
            self._place += len(self._waiting)
            self._closing.wait(0 if self._waiting else LOOK_S)

    def _delivered(self, event: PublicEvent) -> bool:
        """Whether the target has it, however long that takes; False at the program's end."""
        wait_s = WAIT_S
        while not self._closing.is_set():
            try:
                send = publish if self._address.scheme in MQTT_PORTS else post
                send(self._address, self._secret, event)
                self._alarm(self._code, None)
                return True
            except FAULTS as error:
                self._alarm(self._code, sentence("notify_waits", target=self._address.hostname, fault=str(error)))
            self._closing.wait(wait_s)
            wait_s = min(2 * wait_s, MOST_WAIT_S)
        return False

    def _keep(self, event_id: str) -> None:
        """The target has all up to this one. On a full disk it will hear some again."""
        with suppress(OSError):
            write_whole(self._cursor, event_id.encode())


def _checked(url: str, secret: bytes) -> SplitResult:
    """The parts of an address that can be sent to. Raises BadTarget."""
    parts = urlsplit(url)
    by_mqtt = parts.scheme in MQTT_PORTS and bool(parts.path.strip("/"))
    if not (by_mqtt or parts.scheme in ("http", "https")) or not parts.hostname or parts.password:
        raise BadTarget(f"--notify {url}: https://… or mqtt://HOST/TOPIC is wanted, and no password in it")
    if not secret and not by_mqtt:
        raise BadTarget("--notify: events are signed: set REFEREE_NOTIFY_SECRET, or name a file by --notify-secret")
    if by_mqtt and find_spec("paho") is None:
        raise BadTarget("--notify mqtt://… needs the extra 'mqtt': pip install 'referee[mqtt]'")
    return parts


def signature(body: bytes, secret: bytes) -> str:
    """What shows that a body is ours: its HMAC-SHA256 by the secret, in hex."""
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


def post(address: SplitResult, secret: bytes, event: PublicEvent) -> None:
    """Post the event as JSON. Raises OSError or HTTPException for any answer but 2xx, and for none."""
    kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
    headers = {"Content-Type": "application/json", SIGNATURE: signature(event.body, secret)}
    with closing(kind(address.hostname or "", address.port, timeout=ANSWER_S)) as line:
        line.request("POST", address._replace(scheme="", netloc="").geturl() or "/", event.body, headers)
        status = line.getresponse().status
    if status // 100 != 2:
        raise OSError(f"HTTP {status}")


def publish(address: SplitResult, secret: bytes, event: PublicEvent) -> None:
    """Publish the event under the address's topic, quality of service 1. Raises a fault where no broker confirms it."""
    from paho.mqtt.client import Client, MQTTv5
    from paho.mqtt.enums import CallbackAPIVersion
    from paho.mqtt.packettypes import PacketTypes
    from paho.mqtt.properties import Properties

    client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTv5, reconnect_on_failure=False)
    if address.username:
        client.username_pw_set(unquote(address.username), os.environ.get("REFEREE_MQTT_PASSWORD"))
    if address.scheme == "mqtts":
        client.tls_set()
    signed = Properties(PacketTypes.PUBLISH)
    if secret:
        signed.UserProperty = (SIGNATURE, signature(event.body, secret))
    client.connect(address.hostname or "", address.port or MQTT_PORTS[address.scheme])
    client.loop_start()
    try:
        sent = client.publish(unquote(address.path.strip("/")), event.body, qos=1, properties=signed)
        sent.wait_for_publish(ANSWER_S)
        if not sent.is_published():
            raise TimeoutError("the broker does not confirm")
    finally:
        client.disconnect()
        client.loop_stop()
