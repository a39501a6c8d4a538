#!/usr/bin/env python3
"""Draws the wiring of the button box for each board, and a breadboard with it, from the tables below.

`firmware/wiring.py` writes the SVG files.

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
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} style="background:#fff">\n' + "\n".join(body) + "\n</svg>\n"


HOLE, COLUMNS, GROUP = 18, 63, 8  # pixels between holes; holes in a row; columns that the parts of one pin take
BOARD_LEFT, BOARD_TOP = 60, 110
HOLES_DOWN = (1, 2, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 17)
ROWS = {row: BOARD_TOP + HOLE * down for row, down in zip("+-abcdefghij_", HOLES_DOWN, strict=True)}
"""The height of each row: both rails above, ten rows of holes, ``_`` the ground rail below."""

TROUGH = BOARD_TOP + HOLE * 9.5
PIN_COLORS = {"button": "#0b5cab", "pad": "#7a2fd0", "lamp": "#2e7d32", "buzzer": "#a84300", "power": "#b3202b"}
UNO_HEADERS = (
    ("AREF", "GND", "D13", "D12", "D11", "D10", "D9", "D8", "D7", "D6", "D5", "D4", "D3", "D2", "D1", "D0"),
    ("IOREF", "RESET", "3.3V", "5V", "GND", "GND", "VIN", "A0", "A1", "A2", "A3", "A4", "A5"),
)


def column(n: float) -> float:
    """Where a column of the breadboard lies."""
    return BOARD_LEFT + HOLE * n


def lead(x1: float, y1: float, x2: float, y2: float, color: str = "#555") -> str:
    """A part's leg or a jumper wire between two holes."""
    dots = "".join(f'<circle cx="{x}" cy="{y}" r="3" fill="{color}"/>' for x, y in ((x1, y1), (x2, y2)))
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{color}" stroke-width="3"/>' + dots


def resistor(x1: float, y1: float, x2: float, y2: float, value: str) -> str:
    """A resistor between two holes, its value on its body."""
    x, y = (x1 + x2) / 2, (y1 + y2) / 2
    return lead(x1, y1, x2, y2) + (
        f'<rect x="{x - 25}" y="{y - 8}" width="50" height="16" rx="7" fill="#f3dfb8" stroke="#8a6d3b"/>'
        + text(x, y + 5, value, "middle")
    )


def disc(x: float, y: float, radius: float, fill: str, words: str, beside: float) -> str:
    """A round part that stands on the board, its name ``beside`` its middle."""
    halo = f"{STYLE};paint-order:stroke;stroke:#f7f5ef;stroke-width:4px"  # holes lie under the words
    name = f'<text x="{x + beside}" y="{y + 5}" style="{halo}">{escape(words)}</text>'
    return f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{fill}" stroke="#333"/>' + name


def pin_label(x: float, y: float, pin: str, kind: str) -> str:
    """Where a wire to a pin of the Arduino begins: the pin's name on its colour."""
    label = f'<text x="{x}" y="{y + 5}" text-anchor="middle" style="{STYLE};fill:#fff;font-weight:bold">{pin}</text>'
    return f'<rect x="{x - 17}" y="{y - 10}" width="34" height="20" rx="6" fill="{PIN_COLORS[kind]}"/>' + label


def named_above(x: float, y: float, words: str) -> str:
    """A name in up to two lines, the second begun by a bracket."""
    head, _, rest = words.partition(" (")
    return text(x, y - 16 * bool(rest), head, "middle") + (text(x, y, f"({rest}", "middle") if rest else "")


def input_group(first: int, wire: Wire) -> str:
    """A button or pad with its filter in the upper half: its cable comes from above, its pin is named in the trough."""
    cable, pin, a, d = column(first), column(first + 4), ROWS["a"], ROWS["d"]
    ground = column(first - 1)
    return (
        named_above(cable + 30, BOARD_TOP - 56, wire.name)
        + lead(ground, BOARD_TOP - 40, ground, ROWS["-"], "#222")
        + lead(cable, BOARD_TOP - 40, cable, a, PIN_COLORS[wire.kind])
        + resistor(cable, ROWS["b"], column(first + 3), ROWS["+"], "4.7 kΩ")
        + resistor(cable, d, pin, d, "1 kΩ")
        + lead(pin, ROWS["c"], pin, ROWS["-"])
        + disc(pin, ROWS["b"], 9, "#e8a33d", "100 nF", 12)
        + lead(pin, ROWS["e"], pin, TROUGH, PIN_COLORS[wire.kind])
        + pin_label(pin, TROUGH, wire.pin, wire.kind)
    )


def output_group(first: int, wire: Wire) -> str:
    """A lamp or the buzzer in the lower half: its pin is named in the trough, its other leg is on the ground rail."""
    pin, load, h, ground = column(first), column(first + 4), ROWS["h"], ROWS["_"]
    buzzer = wire.kind == "buzzer"
    value, fill = ("100 Ω", "#d9b44a") if buzzer else ("330 Ω", "#8fe08f")
    return (
        pin_label(pin, TROUGH, wire.pin, wire.kind)
        + lead(pin, TROUGH + 10, pin, ROWS["f"], PIN_COLORS[wire.kind])
        + resistor(pin, h, load, h, value)
        + lead(load, ROWS["i"], load, ground)
        + disc(load, ROWS["j"], 14 if buzzer else 10, fill, "piezo" if buzzer else "LED", 17)
        + named_above(load - 20, ground + 44 + 16 * ("(" in wire.name), wire.name)
    )


def bare_board() -> str:
    """The breadboard without parts: its holes, its rails, and which of them is what."""
    right, foot = column(COLUMNS) + HOLE, ROWS["_"] + HOLE
    size = f'width="{right - BOARD_LEFT}" height="{foot - BOARD_TOP}"'
    body = [f'<rect x="{BOARD_LEFT}" y="{BOARD_TOP}" {size} rx="8" fill="#f7f5ef" stroke="#999"/>']
    for row, y in ROWS.items():
        color = {"+": "#c33", "-": "#336", "_": "#336"}.get(row, "#bbb")
        holes = "".join(f"M{column(n)} {y}h0" for n in range(1, COLUMNS + 1))
        body.append(f'<path d="{holes}" stroke="{color}" stroke-width="5" stroke-linecap="round"/>')
    body += [pin_label(BOARD_LEFT - 24, ROWS["+"] - 3, "5V", "power")]
    body += [pin_label(BOARD_LEFT - 24, ROWS[row] + 4, "GND", "power") for row in "-_"]
    return "".join(body)


def uno(x: float, y: float, used: dict[str, str]) -> str:
    """An Uno seen from above, USB at its left, with both headers; ``used`` pins, name -> kind, wear their colour."""
    body = [f'<rect x="{x}" y="{y}" width="820" height="150" rx="10" fill="#e3f4f4" stroke="#066"/>']
    body.append(f'<rect x="{x - 18}" y="{y + 50}" width="60" height="46" fill="#ccc" stroke="#666"/>')
    body.append(text(x + 12, y + 78, "USB", "middle") + text(x + 410, y + 80, "Arduino Uno, from above", "middle"))
    for header, row_y in zip(UNO_HEADERS, (y + 22, y + 128), strict=True):
        for n, pin in enumerate(header):
            at = x + 795 - 47 * (len(header) - 1 - n)
            body.append(pin_label(at, row_y, pin, used[pin]) if pin in used else text(at, row_y + 5, pin, "middle"))
    return "".join(body)


def breadboard() -> str:
    """The Uno's wiring as parts on a breadboard of 63 columns, as SVG."""
    inputs = [w for w in wires("uno") if w.kind in ("button", "pad")]
    outputs = [w for w in wires("uno") if w.kind not in ("button", "pad") and w.pin != "D13"]
    body = [bare_board()]
    body += [input_group(2 + (GROUP + 1) * n, wire) for n, wire in enumerate(inputs)]
    body += [output_group(2 + (GROUP + 1) * n, wire) for n, wire in enumerate(outputs)]
    used = {wire.pin: wire.kind for wire in wires("uno") if wire.pin != "D13"} | {"5V": "power", "GND": "power"}
    foot = ROWS["_"] + 84
    body.append(uno(240, foot + 10, used))
    notes = (
        "A label is a wire to that pin of the Arduino; black wires are ground. An LED's longer leg is at its resistor.",
        "Players 3 and 4, Start/Next and the pads are optional: leave their pins open. It works without filters too:",
        "leave out 4.7 kΩ, 1 kΩ and 100 nF, and put the wire to the pin into the column of the button's cable.",
    )
    body += [text(240, foot + 190 + 20 * n, note) for n, note in enumerate(notes)]
    size = f'width="1260" height="{foot + 250}" viewBox="0 0 1260 {foot + 250}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} style="background:#fff">\n' + "\n".join(body) + "\n</svg>\n"


def main() -> None:
    """Write the drawings beside this script."""
    for board in BOARDS:
        (HERE / f"wiring_{board}.svg").write_text(drawing(board))
    (HERE / "breadboard.svg").write_text(breadboard())


if __name__ == "__main__":
    main()
