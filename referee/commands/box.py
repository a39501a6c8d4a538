"""``referee box``: try the button box, or play one."""

from __future__ import annotations

import sys
import time

import click

from referee.devices.box import SerialBox
from referee.devices.box_sim import FAULTS, BadFault, SimulatedBox
from referee.devices.box_twin import NEXT
from referee.errors import DeviceLost
from referee.ports import BoxNotice, SystemClock

FIND_S = 10.0
SETTLE_S = 2.0  # enough round trips for an honest error bound
HELP = f"""\
press B [MS]    press button B (0 is player 1), MS milliseconds from now
next            press Start/Next
lamps           what the lamps show
{FAULTS}
quit            switch the box off"""


@click.group()
def box() -> None:
    """Try the button box, or play one."""


@box.command()
@click.option("--box", "port", metavar="PORT", help="Serial port, pattern or URL; default: every USB port.")
@click.option("--id", "box_id", help="Insist on the box of this name.")
@click.option("--rename", metavar="NAME", help="Give the box another name; it keeps it.")
@click.option("--buttons", default=2, show_default=True, type=click.IntRange(0, 4), help="How many to try.")
@click.option("--seconds", default=60.0, show_default=True, help="How long to wait for the presses.")
def check(port: str | None, box_id: str | None, rename: str | None, buttons: int, seconds: float) -> None:
    """Show version, latency and clock offset, then try every lamp and button.

    Exit status: 0 every button was pressed, 1 some were not, 2 no box was found.
    """
    serial_box = SerialBox(port, SystemClock(), box_id)
    try:
        missing = _check(serial_box, rename, buttons, seconds)
    finally:
        serial_box.close()
    if missing:
        click.echo(f"not pressed: {', '.join(f'button {b}' for b in sorted(missing))}")
        sys.exit(1)


def _check(serial_box: SerialBox, rename: str | None, buttons: int, seconds: float) -> set[int]:
    if not serial_box.wait_connected(FIND_S):
        why = f" ({serial_box.trouble})" if serial_box.trouble else ""
        raise DeviceLost(f"no button box answers on {serial_box.name}{why}")
    if rename:
        serial_box.rename(rename)
    time.sleep(SETTLE_S)
    for line in figures(serial_box.status()):
        click.echo(line)
    if buttons == 0:
        return set()
    click.echo("Lamps: each lights in turn, with one beep.")
    serial_box.self_test()
    click.echo(f"Buttons: press each of {buttons} within {seconds:g} s; its lamp lights.")
    return _try_buttons(serial_box, buttons, seconds)


def figures(status: dict) -> list[str]:
    """The lines that `referee box check` shows of a box's status."""
    kind = "SIMULATED box" if status["simulated"] else "box"
    counters = ("garbage", "doubled", "missed", "resent", "overwritten")
    return [
        f"{kind} {status['box_id']} on {status['port']}, firmware {status['version']}, start {status['boot']}",
        f"latency       {_ms(status['latency_s'])} (quickest round trip)",
        f"clock offset  {status['offset_s']:.6f} s, known to {_ms(status['offset_error_s'])}",
        f"clock rate    {status['rate_ppm']:+.0f} ppm, known to {status['rate_error_ppm']:.0f} ppm",
        "line          " + ", ".join(f"{status[name]} {name}" for name in counters),
    ]


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"


def _try_buttons(serial_box: SerialBox, buttons: int, seconds: float) -> set[int]:
    missing, began_s = set(range(buttons)), time.monotonic()

    def heard(notice: BoxNotice) -> None:
        if notice.at_s < began_s or notice.kind not in ("tried", "press", "next", "stuck", "lost", "found"):
            return
        click.echo(_words(notice))
        if notice.press is not None:
            missing.discard(notice.player)
            serial_box.lamp(notice.player, True)

    serial_box.listen(heard)
    end_s = time.monotonic() + seconds
    while missing and time.monotonic() < end_s:
        time.sleep(0.05)
    return missing


def _words(notice: BoxNotice) -> str:
    if notice.press is None:
        return notice.text
    return f"{notice.text}, box time {notice.press.box_us} us, known to {_ms(notice.press.error_s)}"


@box.command()
@click.option("--seed", default=0, show_default=True, help="Decides bounce, delays, garbage, clock rate.")
@click.option("--port", metavar="PATH", help="Make the port appear under this path.")
def sim(seed: int, port: str | None) -> None:
    """A SIMULATED button box on a pseudo-terminal; commands on standard input, see `help` there."""
    simulated = SimulatedBox(seed, SystemClock(), port=port).start()
    click.echo(f"SIMULATED box on {simulated.port}")
    try:
        for line in sys.stdin:
            if line.strip() == "quit":
                break
            _obey(simulated, line.strip())
    finally:
        simulated.stop()


def _obey(simulated: SimulatedBox, line: str) -> None:
    words = line.split()
    try:
        if words[:1] == ["press"]:
            _press(simulated, words[1:])
        elif words == ["next"]:
            simulated.next()
        elif words == ["lamps"]:
            click.echo(" ".join(f"{n}:{'on' if on else 'off'}" for n, on in enumerate(simulated.twin.lamps)))
        elif words == ["help"]:
            click.echo(HELP)
        elif words:
            simulated.fault(line)
    except BadFault as error:
        click.echo(str(error), err=True)


def _press(simulated: SimulatedBox, words: list[str]) -> None:
    if not words or not all(w.isdigit() for w in words[:2]) or int(words[0]) > NEXT:
        raise BadFault("press takes a button from 0 to 4, and milliseconds if you like")
    simulated.press(int(words[0]), after_s=int(words[1]) / 1000 if len(words) > 1 else 0.0)
