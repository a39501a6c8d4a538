#!/usr/bin/env python3
"""Builds the button box's sketch as the Arduino IDE does: platform.txt's flags, Debian's core and compiler.

    firmware/build.py uno uno_no_watchdog mega -o referee/devices/firmware

writes ``button_box_uno.hex`` and so on, the files that ``referee box flash`` sends to a board. The same sources
give the same bytes: a test builds them again and compares. Needs Debian's arduino-core-avr, gcc-avr and avr-libc.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SKETCH = HERE / "button_box" / "button_box.ino"
ARDUINO = Path("/usr/share/arduino/hardware/arduino/avr")
COMMON = (
    "-DF_CPU=16000000L",
    "-DARDUINO=10819",
    "-DARDUINO_ARCH_AVR",
    "-DDECIMAL_DIG=__DECIMAL_DIG__",  # WString.cpp fails without it under avr-gcc 5.4
    f"-I{ARDUINO}/cores/arduino",
    *("-c", "-g", "-Os", "-ffunction-sections", "-fdata-sections", "-flto", "-fno-fat-lto-objects"),
)
CPP = ("-std=gnu++11", "-fpermissive", "-fno-exceptions", "-fno-threadsafe-statics")
STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
QUIET_CORE = """\
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <Arduino.h>
#pragma GCC diagnostic pop
"""
"""The IDE puts the include in front of every sketch; its warnings are not ours."""


@dataclass(frozen=True)
class Board:
    """How a board is named by the compiler and by the Arduino core."""

    mcu: str
    variant: str
    define: str
    watchdog: int = 1

    @property
    def flags(self) -> tuple[str, ...]:
        """What the compiler must know of it."""
        return (
            f"-mmcu={self.mcu}",
            f"-DARDUINO_AVR_{self.define}",
            f"-DBOX_WATCHDOG={self.watchdog}",
            f"-I{ARDUINO}/variants/{self.variant}",
            *COMMON,
        )


BOARDS = {
    "uno": Board("atmega328p", "standard", "UNO"),  # a Nano runs the same bytes
    "uno_no_watchdog": Board("atmega328p", "standard", "NANO", watchdog=0),  # for bootloaders that it would hang
    "mega": Board("atmega2560", "mega", "MEGA2560"),
    "leonardo": Board("atmega32u4", "leonardo", "LEONARDO"),  # only to show that it is refused
}


class BuildFailed(Exception):
    """The compiler's words."""


def run(*command: object) -> str:
    """Standard output of a command that must succeed without a word on standard error."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr:
        raise BuildFailed(done.stderr)
    return done.stdout


def build_sketch(board: Board, out: Path) -> Path:
    """The sketch's object file. Any warning in our own code is an error."""
    quiet = out / "quiet_core.h"
    quiet.write_text(QUIET_CORE)
    run("avr-g++", *board.flags, *CPP, *STRICT, "-x", "c++", "-include", quiet, SKETCH, "-o", out / "sketch.o")
    return out / "sketch.o"


def build_core(board: Board, out: Path) -> Path:
    """Arduino's own library for the board."""
    core = ARDUINO / "cores" / "arduino"
    for source in sorted(core.glob("*.c")):
        run("avr-gcc", *board.flags, "-std=gnu11", "-w", source, "-o", out / f"{source.name}.o")
    for source in sorted(core.glob("*.S")):
        run("avr-gcc", *board.flags, "-x", "assembler-with-cpp", source, "-o", out / f"{source.name}.o")
    for source in sorted(core.glob("*.cpp")):
        run("avr-g++", *board.flags, *CPP, "-w", source, "-o", out / f"{source.name}.o")
    run("avr-gcc-ar", "rcs", out / "core.a", *sorted(out.glob("*.[cSp]*.o")))
    return out / "core.a"


def build(board: Board, out: Path) -> Path:
    """The whole program for the board, as an ELF file in ``out``. Raises BuildFailed."""
    sketch, core, elf = build_sketch(board, out), build_core(board, out), out / "box.elf"
    link = ("-Os", "-g", "-flto", "-fuse-linker-plugin", "-Wl,--gc-sections", f"-mmcu={board.mcu}")
    run("avr-gcc", *link, "-o", elf, sketch, core, "-lm")
    return elf


def to_hex(elf: Path, target: Path) -> Path:
    """The program as an Intel HEX file; like the IDE's, without the EEPROM, whose contents are the box's own."""
    run("avr-objcopy", "-O", "ihex", "-R", ".eeprom", elf, target)
    return target


def main() -> None:
    """Build for the boards that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("boards", nargs="+", choices=sorted(BOARDS))
    parser.add_argument("-o", "--output", type=Path, default=Path("."))
    options = parser.parse_args()
    for name in options.boards:
        with tempfile.TemporaryDirectory() as folder:
            elf = build(BOARDS[name], Path(folder))
            options.output.mkdir(parents=True, exist_ok=True)
            to_hex(elf, options.output / f"button_box_{name}.hex")
            print(name, run("avr-size", elf).splitlines()[-1].split()[:3])


if __name__ == "__main__":
    main()
