"""The compiled firmware in simavr, its UART joined to the host driver over a pseudo-terminal."""

import random
import subprocess
from contextlib import ExitStack, closing

import pytest

from referee.devices.box import SerialBox
from referee.devices.ports import Lamp, SystemClock

from .conftest import FAST_RATE_SPAN, Heard
from .counts import PAIRS

CONNECTED, ARMED = 4, 5  # lamps
LINE_DELAY_US = 30_000  # simulated time, like everything here
STAMP_ERROR_US = 50
AFTER_GO_US = 75_000  # a pair of buttons then rests over 120 ms (RELEASE_US) between its turns
FLASH_BYTES, RAM_BYTES = 32_768, 2_048  # ATmega328P


def test_the_firmware_fits_half_of_the_flash_and_two_thirds_of_the_ram(elf):
    told = subprocess.run(["avr-size", "-A", elf], capture_output=True, text=True, check=True).stdout
    rows = [words for words in map(str.split, told.splitlines()) if len(words) == 3]
    size = {name: int(count) for name, count, _ in rows if name.startswith(".")}
    flash, ram = size[".text"] + size[".data"], size[".data"] + size[".bss"] + size.get(".noinit", 0)
    print(f"flash {flash} bytes, {flash / FLASH_BYTES:.1%}; RAM {ram} bytes, {ram / RAM_BYTES:.1%}")
    assert flash < FLASH_BYTES / 2
    assert ram < RAM_BYTES * 2 / 3


@pytest.mark.slow
def test_presses_1_ms_apart_come_in_order_over_a_slow_line(start_simavr, drive):
    simavr = start_simavr(delay_us=LINE_DELAY_US, seed=4)
    box, heard = drive(simavr)
    rng, wanted = random.Random(4), []
    for n in range(PAIRS):
        first, second = rng.sample([(0, 1), (2, 3)][n % 2], 2)  # the other pair's buttons rest meanwhile
        wanted += [(first, 1), (second, 0)]
        box.arm()
        box.go()
        heard.wait("go", n + 1)
        simavr.send(
            *(
                f"edge {b} {c} {t}"
                for b, c, t in [
                    (first, 1, AFTER_GO_US),
                    (second, 1, AFTER_GO_US + 1000),
                    (first, 0, AFTER_GO_US + 25_000),
                    (second, 0, AFTER_GO_US + 25_000),
                ]
            )
        )
        heard.wait("press", 2 * n + 2)
    presses = heard.of("press")
    assert [p.player for p in presses] == [player for player, _ in wanted]
    gaps = [b.press.box_us - a.press.box_us for a, b in zip(presses[::2], presses[1::2], strict=True)]
    assert all(1000 - STAMP_ERROR_US < gap < 1000 + STAMP_ERROR_US for gap in gaps)
    stamps_are_true(presses, simavr)
    print(f"{PAIRS} pairs in order, gaps {min(gaps)} to {max(gaps)} us, {box.status()}")


def stamps_are_true(presses, simavr):
    """Every time stamp is within 50 us of its pin edge, on one zero for all: the start of the box's
    own clock.
    """
    edges = [e for e in simavr.edges if e.closed]
    assert [e.button for e in edges] == [p.player for p in presses]
    late_us = [p.press.box_us - e.at_us for p, e in zip(presses, edges, strict=True)]
    print(f"time stamps within {max(late_us) - min(late_us):.1f} us of the pin edges")
    assert max(late_us) - min(late_us) < STAMP_ERROR_US


def test_recorded_bounce_gives_one_press_each_timed_at_its_first_edge(start_simavr, drive, shapes):
    simavr = start_simavr()
    box, heard = drive(simavr)
    trains = [(p, r) for p in shapes["press"].values() for r in shapes["release"].values()]
    starts = []
    for n, (press, release) in enumerate(trains):
        starts.append(len(simavr.edges))
        box.arm()
        box.go()
        heard.wait("go", n + 1)
        simavr.train(n % 4, press, [200_000 + t for t in release])
        simavr.wait_edges(starts[-1] + len(press) + len(release))
        box.disarm()
    simavr.press(0, after_us=200_000)
    heard.wait("tried")
    presses = heard.of("press")
    assert [p.player for p in presses] == [n % 4 for n in range(len(trains))]
    assert len(heard.of("tried")) == 1, "a bounce was told as a press of its own"
    late_us = [p.press.box_us - simavr.edges[i].at_us for p, i in zip(presses, starts, strict=True)]
    assert max(late_us) - min(late_us) < STAMP_ERROR_US


def test_lamps_and_buzzer_follow_the_duel(start_simavr, drive):
    simavr = start_simavr()
    box, heard = drive(simavr)
    box.arm()
    box.go()
    heard.wait("go")
    simavr.press(2)
    simavr.press(1, after_us=3_000)
    heard.wait("press", 2)
    assert len(simavr.buzzes_us) >= 1
    assert simavr.wait_for(lambda: [n for n in range(4) if simavr.lamps[n]] == [2])
    assert simavr.lamps[CONNECTED] and not simavr.lamps[ARMED]
    box.lamp(3, Lamp.ON)
    assert simavr.wait_for(lambda: simavr.lamps[3])
    box.lamp(3, Lamp.BLINK)
    assert simavr.wait_for(lambda: not simavr.lamps[3]) and simavr.wait_for(lambda: simavr.lamps[3])
    box.arm()
    assert simavr.wait_for(lambda: simavr.lamps[ARMED] and not any(simavr.lamps[n] for n in range(4)))


def test_held_stuck_and_next_are_told_and_a_held_button_does_not_count(start_simavr, drive):
    simavr = start_simavr()
    box, heard = drive(simavr)
    simavr.send("edge 1 1 0")
    heard.wait("tried")
    box.arm()
    box.go()
    assert heard.wait("held_at_go")[0].player == 1
    assert heard.wait("stuck")[0].player == 1
    simavr.send("edge 1 0 0", "edge 4 1 1000", "edge 4 0 90000")
    assert heard.wait("free")[0].player == 1
    heard.wait("next")
    assert not heard.of("press")


def test_a_reset_is_noticed_counted_in_eeprom_and_survived(start_simavr, drive):
    simavr = start_simavr()
    box, heard = drive(simavr)
    boot = box.status()["boot"]
    simavr.send("reset")
    heard.wait("reset")
    box.arm()
    box.go()
    heard.wait("go")
    simavr.press(3)
    assert heard.wait("press")[0].player == 3
    assert box.status()["boot"] == boot + 1


def test_the_host_goes_away_and_is_told_what_it_missed(start_simavr, drive):
    simavr = start_simavr()
    box, heard = drive(simavr)
    box.arm()
    box.go()
    heard.wait("go")
    box.close()
    simavr.press(1)
    simavr.press(0, after_us=1_000)
    assert simavr.wait_for(lambda: len(simavr.edges) == 4)
    _, heard_later = drive(simavr)
    assert [p.player for p in heard_later.wait("press", 2)] == [1, 0]


def test_names_outlive_a_reset_and_a_box_is_found_by_its_name(start_simavr, drive):
    simavr = start_simavr()
    box, heard = drive(simavr)
    box.rename("red-7")
    simavr.wait_for(lambda: False, timeout_s=0.3)
    simavr.send("reset")
    heard.wait("reset")
    assert box.status()["box_id"] == "red-7"


@pytest.mark.parametrize("order", [("BOX1", "red-7"), ("red-7", "BOX1")])
def test_of_two_boxes_on_one_machine_each_program_finds_its_own_and_hears_no_press_of_the_other(
    start_simavr, drive, order
):
    boxes = {"BOX1": start_simavr(paced=True, seed=1), "red-7": start_simavr(paced=True, seed=2)}
    first, _ = drive(boxes["red-7"])
    first.rename("red-7")
    assert boxes["red-7"].wait_for(lambda: first.status()["box_id"] == "red-7")
    first.close()
    anywhere = boxes["BOX1"].port.removesuffix("0") + "*"
    with ExitStack() as stack:
        programs = {}
        for name in order:
            box, heard = SerialBox(anywhere, SystemClock(), name, FAST_RATE_SPAN), Heard()
            stack.enter_context(closing(box))
            box.listen(heard)
            programs[name] = box, heard
        for name, (box, heard) in programs.items():
            heard.wait("found", timeout_s=30.0)
            assert box.status()["port"] == boxes[name].port
            box.arm()
            box.go()
            heard.wait("go")
        for name, player in zip(order, (2, 1), strict=True):
            boxes[name].press(player)
            assert [n.player for n in programs[name][1].wait("press")] == [player]
        boxes[order[0]].press(0, after_us=1_000)
        programs[order[0]][1].wait("press", 2)
        assert len(programs[order[1]][1].of("press")) == 1
