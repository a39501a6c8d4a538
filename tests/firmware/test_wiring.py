"""The drawn wiring is what the firmware was compiled for, and the firmware in the wheel is what the sources give."""

import hashlib
import re
import sys
from collections import Counter

import pytest

from .conftest import SKETCH, build, load_script, run

wiring = load_script("wiring")
PROBE = """
#define F_CPU 16000000L
#define A0 100
#define A1 101
#define A2 102
#define MCU 1
#include <cstdio>
#include "pins.h"
static void tell(const char* kind, int pin) {
  if (pin < 100) std::printf("%s D%d\\n", kind, pin);
  else std::printf("%s A%d\\n", kind, pin - 100);
}
int main() {
  for (int pin : BUTTON_PINS) tell("button", pin);
  for (int pin : PAD_PINS) tell("pad", pin);
  for (int pin : LAMP_PINS) tell("lamp", pin);
  tell("lamp", ARMED_LAMP_PIN);
  tell("lamp", CONNECTED_LAMP_PIN);
  tell("buzzer", BUZZER_PIN);
}
"""
MCUS = {"uno": "__AVR_ATmega328P__", "mega": "__AVR_ATmega2560__"}


@pytest.mark.parametrize("board", sorted(wiring.BOARDS))
def test_the_drawing_has_the_pins_of_the_code(tmp_path, board):
    (tmp_path / "probe.cpp").write_text(PROBE.replace("MCU", MCUS[board]))
    run("g++", "-std=c++11", f"-I{SKETCH}", "-o", tmp_path / "probe", tmp_path / "probe.cpp")
    assert run(tmp_path / "probe").splitlines() == [f"{wire.kind} {wire.pin}" for wire in wiring.wires(board)]


@pytest.mark.parametrize("board", sorted(wiring.BOARDS))
def test_the_drawing_is_the_scripts(board):
    assert (SKETCH.parent / f"wiring_{board}.svg").read_text() == wiring.drawing(board)


def test_the_breadboard_is_the_scripts_and_has_every_pin_of_the_uno_at_its_place_in_the_headers():
    picture = wiring.breadboard()
    assert (SKETCH.parent / "breadboard.svg").read_text() == picture
    named = Counter(re.findall(r">(5V|GND|[AD]\d+)</text>", picture))
    for wire in wiring.wires("uno"):
        assert named[wire.pin] == (1 if wire.pin == "D13" else 2), wire  # beside its part, and in the header
        assert wire.pin in wiring.UNO_HEADERS[wire.pin[0] == "A"]
    free = {pin for header in wiring.UNO_HEADERS for pin in header} - {w.pin for w in wiring.wires("uno")}
    assert all(named[pin] <= 1 for pin in free - {"5V", "GND"})
    assert picture.count("4.7 kΩ</text>") == picture.count("1 kΩ</text>") == picture.count("100 nF</text>") == 7
    assert picture.count("330 Ω") == 5 and picture.count("100 Ω") == 1  # as in the README's list of parts


def test_the_readmes_table_has_the_same_pins():
    table = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|", (SKETCH.parent / "README.md").read_text(), re.MULTILINE)
    for column, board in ((1, "uno"), (2, "mega")):
        said = " ".join(row[column] for row in table if re.match(r"[AD]\d", row[column]))
        said = said.replace("D9 to D12", "D9, D10, D11, D12")
        assert re.findall(r"[AD]\d+", said) == sorted(
            (wire.pin for wire in wiring.wires(board)), key=re.findall(r"[AD]\d+", said).index
        )


def test_an_unknown_board_is_refused_in_one_sentence(tmp_path):
    with pytest.raises(build.BuildFailed) as refused:
        build.build_sketch(build.BOARDS["leonardo"], tmp_path)
    errors = [line for line in str(refused.value).splitlines() if "error:" in line]
    assert len(errors) == 1 and "runs on boards with an ATmega328P (Uno, Nano) or an ATmega2560 (Mega)" in errors[0]


@pytest.mark.parametrize("board", ["uno", "mega", "uno_no_watchdog"])
def test_the_wheels_firmware_is_what_the_sources_give(request, tmp_path, board):
    built = {"uno": "elf", "mega": "mega_elf"}.get(board)
    elf = request.getfixturevalue(built) if built else build.build(build.BOARDS[board], tmp_path)
    fresh = build.to_hex(elf, tmp_path / "fresh.hex")
    kept = SKETCH.parents[1] / "referee" / "devices" / "firmware" / f"button_box_{board}.hex"
    told = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (fresh, kept)]
    print(f"{board}: sha256 {told[0]}")
    assert told[0] == told[1], "run firmware/build.py uno uno_no_watchdog mega -o referee/devices/firmware"


def test_the_script_makes_the_folder_that_it_writes_to(tmp_path, monkeypatch, elf):
    monkeypatch.setattr(build, "build", lambda board, out: elf)
    monkeypatch.setattr(sys, "argv", ["build.py", "uno", "-o", str(tmp_path / "not" / "there")])
    build.main()
    written = (tmp_path / "not" / "there" / "button_box_uno.hex").read_bytes()
    assert written == build.to_hex(elf, tmp_path / "uno.hex").read_bytes()
