"""``referee box``: try the button box, or play one."""

import sys
import time
from contextlib import closing, suppress

import click

from referee.devices.box import SerialBox
from referee.devices.box_protocol import NEXT_BUTTON, PADS, PLAYERS
from referee.devices.firmware import BOARDS, firmware_image, upload_firmware
from referee.devices.ports import BoxNotice, Lamp, SystemClock
from referee.errors import DeviceLost
from referee.simulator.box import FAULTS, BadFault, SimulatedBox

FIND_S = 10.0
SETTLE_S = 2.0  # enough round trips for an honest error bound
ANSWER_S = 0.5  # until every line's counts have been answered
LAMP_TEST_S = 1.1  # the box's self-test, which shows each lamp in turn
RESONATOR_PPM = 10_000  # twice what a ceramic resonator keeps
HELP = f"""\
press B [MS]    press button B (0 is player 1), MS milliseconds from now
next            press Start/Next
rest B [MS]     player B's tongs lie on the pad from then on
lift B [MS]     and leave it
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
@click.option(
    "--listen", default=10.0, show_default=True, help="Seconds for which nobody touches a button: edges are noise."
)
@click.option("--buttons", default=2, show_default=True, type=click.IntRange(0, 4), help="How many to try.")
@click.option("--seconds", default=60.0, show_default=True, help="How long to wait for the presses.")
def check(
    port: str | None, box_id: str | None, rename: str | None, listen: float, buttons: int, seconds: float
) -> None:
    """Show version, latency and how far the clock can be trusted, count edges on the lines, then try lamps and buttons.

    Exit status: 0 every button was pressed, 1 some were not, 2 no box was found.
    """
    with closing(SerialBox(port, SystemClock(), box_id)) as serial_box:
        missing = _check(serial_box, rename, listen, buttons, seconds)
    if missing:
        click.echo(f"not pressed: {', '.join(f'button {b}' for b in sorted(missing))}")
        sys.exit(1)


def _check(serial_box: SerialBox, rename: str | None, listen: float, buttons: int, seconds: float) -> set[int]:
    if not serial_box.wait_connected(FIND_S):
        why = f" ({serial_box.trouble})" if serial_box.trouble else ""
        raise DeviceLost(f"no button box answers on {serial_box.name}{why}")
    if rename:
        serial_box.rename(rename)
    time.sleep(SETTLE_S)
    _show(status_lines(serial_box.status()))
    _show(_listened(serial_box, listen))
    if buttons == 0:
        return set()
    click.echo("Lamps: each lights in turn, with one beep.")
    serial_box.self_test()
    time.sleep(LAMP_TEST_S)
    click.echo(f"Buttons: press each of {buttons} within {seconds:g} s; its lamp lights.")
    missing = _try_buttons(serial_box, buttons, seconds)
    _show(bounce_lines(_counts(serial_box)))
    return missing


def _show(lines: list[str]) -> None:
    for line in lines:
        click.echo(line)


def _counts(serial_box: SerialBox) -> dict[int, tuple[int, int, int]]:
    with suppress(DeviceLost):
        serial_box.ask_counts()
    time.sleep(ANSWER_S)
    counts: dict[int, tuple[int, int, int]] = serial_box.status()["counts"]
    return counts


def _listened(serial_box: SerialBox, seconds: float) -> list[str]:
    """Edges on every line while nobody touches a button."""
    if serial_box.status()["protocol"] == 1:
        return ['noise         not measured: firmware 1 counts no edges; "referee box flash" sends the present one']
    click.echo(f"Noise: hands off all buttons for {seconds:g} s.")
    with suppress(DeviceLost):
        serial_box.clear_counts()
    time.sleep(ANSWER_S + seconds)
    return noise_lines(_counts(serial_box), seconds)


def noise_lines(counts: dict[int, tuple[int, int, int]], seconds: float) -> list[str]:
    """What edges on lines that nobody touched say of them."""
    lines = [
        f"noise         {_line(button)}: {edges} edges in {seconds:g} s: look at its cable, or add the RC filter"
        for button, (edges, _, _) in sorted(counts.items())
        if edges
    ]
    if not counts:
        return ["noise         the box did not tell its counts"]
    return lines or ["noise         none: no edge on any line"]


def bounce_lines(counts: dict[int, tuple[int, int, int]]) -> list[str]:
    """How long each button that was pressed bounces."""
    return [
        f"bounce        {_line(button)}: rests {settle_us / 1000:.2f} ms after its first edge, longest lift-off "
        f"{gap_us / 1000:.2f} ms, {edges} edges"
        for button, (edges, settle_us, gap_us) in sorted(counts.items())
        if edges
    ]


def _line(button: int) -> str:
    return "Start/Next" if button == NEXT_BUTTON else f"button {button}"


def status_lines(status: dict) -> list[str]:
    """The lines that `referee box check` shows of a box's status."""
    kind = "SIMULATED box" if status["simulated"] else "box"
    counters = ("garbage", "doubled", "missed", "resent", "overwritten")
    offset_s = status["offset_s"]
    offset = "not known" if offset_s is None else f"{offset_s:.6f} s"
    rows = [
        f"{kind} {status['box_id']} on {status['port']}, firmware {status['version']}, start {status['boot']}, "
        f"protocol {status['protocol']}",
        f"latency       {_ms(status['latency_s'])} (quickest round trip)",
        f"clock offset  {offset}, known to {_ms(status['offset_error_s'])}",
        f"clock rate    {status['rate_ppm']:+.0f} ppm, known to {status['rate_error_ppm']:.0f} ppm",
        "line          " + ", ".join(f"{status[name]} {name}" for name in counters),
    ]
    if not status["connected"]:
        rows.append("silent        the box has stopped to answer")
    if abs(status["rate_ppm"]) > RESONATOR_PPM + status["rate_error_ppm"]:
        rows.append(f"resonator     off by more than {RESONATOR_PPM} ppm: this board's clock is faulty")
    return rows


def _ms(seconds: float | None) -> str:
    return "nothing" if seconds is None else f"{seconds * 1000:.2f} ms"


def _try_buttons(serial_box: SerialBox, buttons: int, seconds: float) -> set[int]:
    missing, began_s = set(range(buttons)), SystemClock().now_s()

    def heard(notice: BoxNotice) -> None:
        if notice.at_s < began_s or notice.kind not in ("tried", "press", "next", "stuck", "lost", "found"):
            return
        click.echo(_words(notice))
        if notice.press is not None:
            missing.discard(notice.press.player)
            with suppress(DeviceLost):
                serial_box.lamp(notice.press.player, Lamp.ON)

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
@click.option("--port", required=True, metavar="PORT", help="Where the Arduino is, such as /dev/ttyACM0.")
@click.option("--board", type=click.Choice(sorted(BOARDS)), default="uno", show_default=True)
def flash(port: str, board: str) -> None:
    """Send the box's firmware, which comes with this program, to an Arduino. Needs the program avrdude."""
    click.echo(f"sending firmware {firmware_image(board).name} to the {board} on {port}")
    upload_firmware(port, board)
    click.echo('done; now try it with "referee box check"')


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
        elif words[:1] in (["rest"], ["lift"]):
            _put(simulated, words)
        elif words == ["lamps"]:
            click.echo(
                " ".join(f"{n}:{'on' if on else 'off'}" for n, on in enumerate(simulated.firmware.lamps[:PLAYERS]))
            )
        elif words == ["help"]:
            click.echo(HELP)
        elif words:
            simulated.fault(line)
    except BadFault as error:
        click.echo(str(error), err=True)


def _put(simulated: SimulatedBox, words: list[str]) -> None:
    what, *numbers = words
    if not numbers or len(numbers) > 2 or not all(n.isdigit() for n in numbers) or int(numbers[0]) >= PADS:
        raise BadFault(f"{what} takes a player, 0 or 1, and milliseconds if you like")
    put = simulated.rest if what == "rest" else simulated.lift
    put(int(numbers[0]), after_s=int(numbers[1]) / 1000 if len(numbers) > 1 else 0.0)


def _press(simulated: SimulatedBox, words: list[str]) -> None:
    if not words or not all(w.isdigit() for w in words[:2]) or int(words[0]) > NEXT_BUTTON:
        raise BadFault("press takes a button from 0 to 4, and milliseconds if you like")
    simulated.press(int(words[0]), after_s=int(words[1]) / 1000 if len(words) > 1 else 0.0)
