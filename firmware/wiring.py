#!/usr/bin/env python3
"""Draws the wiring of the button box for each board, from the tables below: `firmware/wiring.py` writes the SVG files.

A test holds the tables against `button_box/pins.h` as the compiler reads it, and the SVG files against this script.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
STYLE = "font-family:sans-serif;font-size:13px"
ROW, LEFT, BOARD, RIGHT = 64, 150, 560, 730  # pixels: height of a row, and where the three columns begin


@dataclass(frozen=True)
class Wire:
    """One pin and what hangs on it. ``kind`` is button, pad, lamp or buzzer."""

    pin: str
    kind: str
    name: str


COMMON = (
    *(Wire(f"D{9 + n}", "lamp", f"lamp, player {n + 1}") for n in range(4)),
    Wire("D7", "lamp", "armed: both may start"),
    Wire("D13", "lamp", "host connected: the LED on the board"),
    Wire("D6", "buzzer", "buzzer"),
)
PADS = (Wire("A1", "pad", "pad, player 1"), Wire("A2", "pad", "pad, player 2"))
STOPS = ("Stop, player 1 (zone A)", "Stop, player 2 (zone B)", "Stop, player 3", "Stop, player 4", "Start/Next")
BOARDS = {
    "uno": ("Arduino Uno or Nano", ("D2", "D3", "D8", "A0", "D4")),
    "mega": ("Arduino Mega 2560", ("D2", "D3", "D18", "D19", "D20")),
}


def wires(board: str) -> tuple[Wire, ...]:
    """All of a board's pins that are used."""
    buttons = tuple(Wire(pin, "button", name) for pin, name in zip(BOARDS[board][1], STOPS, strict=True))
    return (*buttons, *PADS, *COMMON)


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    """A wire."""
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#222" stroke-width="1.5"/>'


def text(x: float, y: float, words: str, anchor: str = "start") -> str:
    """A label."""
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" style="{STYLE}">{escape(words)}</text>'


def part(x: float, y: float, width: float, words: str) -> str:
    """A component: a box with its value."""
    frame = f'<rect x="{x}" y="{y - 10}" width="{width}" height="20" fill="#fff" stroke="#222"/>'
    return frame + text(x + width / 2, y + 5, words, "middle")


def ground(x: float, y: float) -> str:
    """The ground sign."""
    return "".join(line(x - 8 + 3 * n, y + 4 * n, x + 8 - 3 * n, y + 4 * n) for n in range(3))


def contact(x: float, y: float) -> str:
    """A contact that closes to ground: its left side is grounded, its right side goes on."""
    dots = f'<circle cx="{x}" cy="{y}" r="3"/><circle cx="{x + 34}" cy="{y}" r="3"/>'
    return dots + line(x, y - 3, x + 32, y - 13) + line(x, y, x, y + 10) + ground(x, y + 10)


def pull_up(x: float, y: float) -> str:
    """A resistor from the wire up to +5 V."""
    return line(x, y - 16, x, y) + part(x - 30, y - 26, 60, "4.7 kΩ") + text(x + 36, y - 22, "to +5 V")


def capacitor(x: float, y: float) -> str:
    """A capacitor from the wire down to ground."""
    return (
        line(x, y, x, y + 10)
        + part(x - 30, y + 20, 60, "100 nF")
        + line(x + 30, y + 20, x + 42, y + 20)
        + ground(x + 42, y + 20)
    )


def input_row(y: float, wire: Wire) -> str:
    """Contact to ground, cable, pull-up, series resistor, capacitor, pin."""
    parts = contact(LEFT + 20, y) + pull_up(LEFT + 110, y) + part(LEFT + 220, y, 56, "1 kΩ") + capacitor(LEFT + 320, y)
    cable = line(LEFT + 54, y, LEFT + 220, y) + line(LEFT + 276, y, BOARD, y)
    return parts + cable + text(LEFT + 8, y + 4, wire.name, "end")


def output_row(y: float, wire: Wire) -> str:
    """Pin, resistor and LED, or the buzzer, to ground, from left to right."""
    end = RIGHT + 70
    if wire.pin == "D13":
        return text(RIGHT + 12, y + 4, wire.name)
    sign = ground(end + 120, y + 8) + line(end + 120, y, end + 120, y + 8)
    value = "100 Ω" if wire.kind == "buzzer" else "330 Ω"
    load = "piezo" if wire.kind == "buzzer" else "LED ▷|"
    chain = line(RIGHT, y, end - 40, y) + part(end - 40, y, 56, value) + line(end + 16, y, end + 36, y)
    return (
        chain + part(end + 36, y, 60, load) + line(end + 96, y, end + 120, y) + sign + text(end + 140, y + 4, wire.name)
    )


def drawing(board: str) -> str:
    """The board with everything that hangs on it, as SVG."""
    inputs = [w for w in wires(board) if w.kind in ("button", "pad")]
    outputs = [w for w in wires(board) if w.kind not in ("button", "pad")]
    rows = max(len(inputs), len(outputs))
    height = (rows + 3) * ROW
    body = [
        f'<rect x="{BOARD}" y="{ROW}" width="{RIGHT - BOARD}" height="{(rows + 1) * ROW}" fill="#dff" stroke="#066"/>'
    ]
    body.append(text((BOARD + RIGHT) / 2, ROW + 18, BOARDS[board][0], "middle"))
    for n, wire in enumerate(inputs):
        y = (n + 2.2) * ROW
        body += [text(BOARD + 6, y + 4, wire.pin), input_row(y, wire)]
    for n, wire in enumerate(outputs):
        y = (n + 2.2) * ROW
        body += [text(RIGHT - 6, y + 4, wire.pin, "end"), output_row(y, wire)]
    note = "Contacts close to ground. Start/Next, the pads and players 3 and 4 are optional: leave their pins open."
    body.append(text(LEFT, height - 16, note))
    size = f'width="1180" height="{height}" viewBox="0 0 1180 {height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n' + "\n".join(body) + "\n</svg>\n"


def main() -> None:
    """Write the drawings beside this script."""
    for board in BOARDS:
        (HERE / f"wiring_{board}.svg").write_text(drawing(board))


if __name__ == "__main__":
    main()
