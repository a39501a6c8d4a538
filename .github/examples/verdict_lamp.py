"""A lamp that shows verdicts, in Home Assistant's JSON for MQTT lights: green right, red wrong, amber for a human.

referee run --camera 0 --notify mqtt://broker/referee
python verdict_lamp.py broker
"""

import json
import sys

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

COLORS = {"match": (0, 255, 0), "mismatch": (255, 0, 0), "undecided": (255, 160, 0)}
lamp = Client(CallbackAPIVersion.VERSION2, "verdict lamp", clean_session=False)  # the broker keeps what it misses


def show(client, _, message):
    """A verdict turns the lamp on in its colour, the next card turns it off."""
    event = json.loads(message.payload)
    if event["kind"] == "verdict":
        red, green, blue = COLORS[event["data"]["ruling"]]
        client.publish("home/lamp/set", json.dumps({"state": "ON", "color": {"r": red, "g": green, "b": blue}}))
    elif event["kind"] == "card_drawn":
        client.publish("home/lamp/set", json.dumps({"state": "OFF"}))


lamp.on_connect = lambda *_: lamp.subscribe("referee", qos=1)
lamp.on_message = show
host, _, port = sys.argv[1].partition(":")
lamp.connect(host, int(port or 1883))
lamp.loop_forever()
