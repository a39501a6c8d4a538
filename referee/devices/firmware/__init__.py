"""The built firmware of the button box, and how it gets onto an Arduino.

The ``.hex`` files beside this module are what `firmware/build.py` makes of the sources; a test builds them again.
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from referee.errors import DeviceLost


@dataclass(frozen=True)
class Board:
    """What avrdude must know of a board: part, programmer (its bootloader's protocol) and speed."""

    part: str
    programmer: str
    baud: int
    image: str


BOARDS = {
    "uno": Board("atmega328p", "arduino", 115_200, "uno"),
    "nano": Board("atmega328p", "arduino", 115_200, "uno"),
    "nano-old": Board("atmega328p", "arduino", 57_600, "uno_no_watchdog"),  # sold with the bootloader before Optiboot
    "mega": Board("atmega2560", "wiring", 115_200, "mega"),
}


def firmware_image(board: str) -> Path:
    """The firmware for a board."""
    return Path(__file__).parent / f"button_box_{BOARDS[board].image}.hex"


def avrdude_words(port: str, board: str) -> list[str]:
    """The command that writes and verifies the firmware; -D, because a bootloader erases page by page."""
    b = BOARDS[board]
    options = ["-p", b.part, "-c", b.programmer, "-P", port, "-b", str(b.baud), "-D"]
    return ["avrdude", *options, "-U", f"flash:w:{firmware_image(board)}:i"]


def upload_firmware(port: str, board: str) -> None:
    """Write the firmware. Raises DeviceLost with avrdude's last words."""
    try:
        done = subprocess.run(avrdude_words(port, board), capture_output=True, text=True, check=False)
    except FileNotFoundError:
        hint = "Debian and Ubuntu: apt install avrdude; macOS: brew install avrdude"
        raise DeviceLost(f"avrdude is not installed ({hint})") from None
    if done.returncode != 0:
        words = [line for line in done.stderr.splitlines() if line.strip()]
        raise DeviceLost(f"{port}: {words[-1] if words else 'avrdude failed'}")
