"""The compiled firmware at exact cycles: noise, resets, old EEPROMs, order. No host and no wall clock are in it.

The rows of noise were all seen to steal or block a duel before: the contact kept *trying* for as long as spikes came.
"""

import random
import subprocess

import pytest

from referee.devices.box_conversation import NOISY_S

from .counts import PAIRS, TRAINS
from .timelines import BOOTED_US, Timeline

STAMP_ERROR_US = 50
BOX_ZERO_US = 1_000  # micros() begins to run so early after the reset
TOLD_US = 30_000  # after its first edge a press has been told
PRESSED_US, LATER_US = 600_333, 900_000
A, B, UNUSED, NEXT = 0, 1, 2, 4


@pytest.fixture(scope="session")
def play(timeline_program, elf):
    """``play(timeline, end_us, **options) -> Outcome`` on an Uno."""

    def run(timeline, end_us, **options):
        return timeline.run(timeline_program, elf, end_us, **options)

    return run


STOLEN_US = 2_000  # what induced spikes may steal: see arbitration.h


def check_presses(outcome, wanted, stolen_us=0):
    """These (button, us) were told, in this order, each once, in time and with its own time stamp."""
    got = outcome.presses()
    assert [button for button, _, _ in got] == [button for button, _ in wanted]
    for (_, box_us, told_us), (_, at_us) in zip(got, wanted, strict=True):
        assert -BOX_ZERO_US - stolen_us < box_us - at_us < STAMP_ERROR_US
        assert told_us - at_us < TOLD_US


NOISE = [(5_000, 2), (4_615, 577), (10_000, 1), (2_000, 2), (9_500, 2), (100, 1), (1_300, 0.0625), (12_000, 300)]
IDS = [f"{width:g} us every {period} us" for period, width in NOISE]


@pytest.mark.parametrize(("period_us", "width_us"), NOISE, ids=IDS)
def test_noise_on_a_players_line_steals_nothing(play, period_us, width_us):
    timeline = Timeline()
    timeline.duel()
    timeline.pulses(B, 200_000, LATER_US + 200_000, period_us, width_us)
    timeline.press(PRESSED_US, A)
    timeline.press(LATER_US, B)
    outcome = play(timeline, LATER_US + 250_000)
    check_presses(outcome, [(A, PRESSED_US), (B, LATER_US)], STOLEN_US)
    assert outcome.kinds("BXNOI") == [("BXNOI", (B,))]


@pytest.mark.parametrize("line", [UNUSED, NEXT])
@pytest.mark.parametrize(("period_us", "width_us"), NOISE, ids=IDS)
def test_noise_on_another_line_blocks_nobody(play, period_us, width_us, line):
    timeline = Timeline()
    timeline.duel()
    timeline.pulses(line, 300_000, 900_000, period_us, width_us)
    timeline.press(PRESSED_US, A)
    outcome = play(timeline, 900_000)
    check_presses(outcome, [(A, PRESSED_US)])
    assert ("BXNOI", (line,)) in outcome.kinds("BXNOI")


@pytest.mark.parametrize("lead_us", [5_000, 19_500])
@pytest.mark.parametrize(("period_us", "width_us"), NOISE, ids=IDS)
def test_noise_that_has_just_begun_holds_nobody_back_for_long(play, period_us, width_us, lead_us):
    timeline = Timeline()
    timeline.duel()
    timeline.pulses(B, PRESSED_US - lead_us, LATER_US, period_us, width_us)
    timeline.press(PRESSED_US, A)
    timeline.press(LATER_US + 50_000, B)
    check_presses(play(timeline, LATER_US + 150_000), [(A, PRESSED_US), (B, LATER_US + 50_000)])


@pytest.mark.parametrize("width_us", [0.0625, 1, 4])
@pytest.mark.parametrize("gap_us", [3_000, 9_900, 11_000])
def test_a_spike_at_the_others_edge_makes_no_dead_heat(play, width_us, gap_us):
    timeline = Timeline()
    timeline.duel()
    timeline.pulses(B, PRESSED_US + 20, PRESSED_US + 21, 100, width_us)
    timeline.press(PRESSED_US, A)
    timeline.press(PRESSED_US + gap_us, B)
    check_presses(play(timeline, PRESSED_US + 200_000), [(A, PRESSED_US), (B, PRESSED_US + gap_us)])


def test_a_line_that_was_noisy_is_quiet_again_and_its_lamp_has_flickered(play):
    timeline = Timeline()
    timeline.duel()
    timeline.pulses(B, 300_000, 900_000, 4_615, 577)
    outcome = play(timeline, 2_200_000)
    assert outcome.kinds("BXNOI", "BXQUI") == [("BXNOI", (B,)), ("BXQUI", (B,))]
    flicker = [on for at_us, lamp, on in outcome.lamps if lamp == B and at_us > 300_000]
    assert len(flicker) > 10 and flicker[-1] is False


def chattering(width):
    """A slow edge at both ends: six touches in 1.5 % of the period each, as fractions of it."""
    touches = [(at + k * 0.0025, 0.001) for at in (0.0, width) for k in range(6)]
    return [*touches, (0.0, width)]


HUM = {  # (start, length) of what closes the line in one period of the mains, as fractions of it
    "1 of 20 ms": [(0, 0.05)],
    "1.5 of 20 ms": [(0, 0.075)],
    "3 of 20 ms": [(0, 0.15)],
    "9 of 20 ms": [(0, 0.45)],
    "10 of 20 ms": [(0, 0.5)],
    "0.9 of 20 ms": [(0, 0.045)],
    "0.4 of 20 ms": [(0, 0.02)],
    "rectified: 0.5 of 10 ms": [(0, 0.025), (0.5, 0.025)],
    "rectified: 5 of 10 ms": [(0, 0.25), (0.5, 0.25)],
    "17 us each 1.9 ms": [(n * 0.095, 0.00085) for n in range(10)],
    "slow edges, 9 of 20 ms": chattering(0.45),
}
NOISY_US = NOISY_S * 1e6
MISSED_US = 30  # the very first touch of a chattering edge may be too short to be seen


def hum(timeline, shape, hz, from_us, until_us):
    """B's line hums."""
    period_us = 1e6 / hz
    for n in range(int((until_us - from_us) / period_us)):
        for start, length in HUM[shape]:
            at_us = from_us + (n + start) * period_us
            timeline.pin(at_us, B, True)
            timeline.pin(at_us + length * period_us, B, False)


def check_hum(outcome, wanted):
    """No press but these (button, us), once each and in order; B's line noisy, and its stamp within its bound."""
    got = outcome.presses()
    assert [button for button, _, _ in got] == [button for button, _ in wanted]
    for (button, box_us, told_us), (_, at_us) in zip(got, wanted, strict=True):
        early_us = NOISY_US if button == B else 0
        assert -BOX_ZERO_US - early_us < box_us - at_us < STAMP_ERROR_US + MISSED_US
        assert told_us - at_us < TOLD_US
    told = [kind for kind, fields in outcome.kinds("BXNOI", "BXPRS") if fields[0] == B]
    assert told[:1] == ["BXNOI"], "before any press on it"
    assert not outcome.sentences("BXSTK")


ORDERS = {"nobody": [], "A": [A], "B": [B], "A, then B": [A, B], "B, then A": [B, A]}
BETWEEN_US = 25_000


@pytest.mark.slow
@pytest.mark.parametrize("hz", [50, 60])
@pytest.mark.parametrize("shape", HUM)
def test_hum_that_was_there_before_the_go_forges_and_loses_nothing(play, shape, hz):
    rng, timeline, wanted = random.Random(f"{shape} {hz}"), Timeline(), []
    timeline.tell(BOOTED_US, "RFHEL", 2)
    hum(timeline, shape, hz, 50_000, 5_000_000)
    for n, order in enumerate(ORDERS.values()):
        go_us = 500_000 + n * 900_000
        timeline.again(go_us - 20_000)
        at_us = go_us + 300_000 + rng.uniform(0, 20_000)
        for button in order:
            timeline.press(at_us, button)
            wanted.append((button, at_us))
            at_us += BETWEEN_US
        timeline.tell(go_us + 600_000, "RFACK", 10**8, 1)
    check_hum(play(timeline, 5_000_000), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["nobody", "A, then B", "B, then A"])
@pytest.mark.parametrize("hz", [50, 60])
@pytest.mark.parametrize("shape", HUM)
def test_hum_that_begins_after_the_go_forges_and_loses_nothing(play, shape, hz, order):
    rng, timeline, wanted = random.Random(f"{shape} {hz} {order}"), Timeline(), []
    timeline.duel()
    hum(timeline, shape, hz, 100_000 + rng.uniform(0, 20_000), 800_000)
    at_us = 400_000 + rng.uniform(0, 20_000)
    for button in ORDERS[order]:
        timeline.press(at_us, button)
        wanted.append((button, at_us))
        at_us += BETWEEN_US
    check_hum(play(timeline, 800_000), wanted)


@pytest.mark.parametrize("hz", [50, 60])
@pytest.mark.parametrize("duty", [0.76, 0.82, 0.9, 0.95, 0.99])
def test_hum_of_any_duty_before_the_go_is_told_before_it(play, duty, hz):
    """Seen before: B's Stop was lost without a word where hum closed its line for 76 % of the time and more."""
    HUM["any"] = [(0, duty)]
    timeline, go_us = Timeline(), 500_000
    timeline.tell(BOOTED_US, "RFHEL", 2)
    hum(timeline, "any", hz, 50_000, 1_500_000)
    timeline.again(go_us - 5_000)
    timeline.press(LATER_US, B)
    timeline.press(LATER_US + BETWEEN_US, A)
    outcome = play(timeline, 1_500_000)
    noisy = next(s for _, s in outcome.sentences("BXNOI"))
    assert noisy.fields[1:] == (B,) and noisy.box_us < go_us - 100_000
    pressed = [button for button, box_us, _ in outcome.presses() if box_us > go_us]
    held = outcome.kinds("BXHLD", "BXFRE") == [("BXHLD", (B,))]  # and not freed
    assert pressed == ([A] if held else [B, A]), "a press that cannot be told is one of a button that is held"
    assert held == (duty / hz > 0.015), "closed for so long on end"


@pytest.mark.parametrize("hz", [50, 60])
@pytest.mark.parametrize("duty", [0.76, 0.82, 0.9, 0.95, 0.99])
def test_hum_of_any_duty_that_begins_in_a_duel_is_told_and_costs_the_other_nothing(play, duty, hz):
    """Closed for 15 ms on end it is a press, as a line is that is shorted: then it is told as noisy right after it."""
    HUM["any"] = [(0, duty)]
    timeline = Timeline()
    timeline.duel()
    hum(timeline, "any", hz, 300_000, 1_500_000)
    timeline.press(PRESSED_US, A)
    outcome = play(timeline, 1_500_000)
    told_us, noisy = next(iter(outcome.sentences("BXNOI")))
    assert noisy.fields[1:] == (B,) and told_us < 300_000 + 11 * 1e6 / hz
    others = [button for button, _, _ in outcome.presses() if button == B]
    assert len(others) == (duty / hz > 0.015), "one press where it is closed for so long"
    mine = [(box_us, told_us) for button, box_us, told_us in outcome.presses() if button == A]
    assert [(-BOX_ZERO_US < box_us - PRESSED_US < STAMP_ERROR_US, t < PRESSED_US + TOLD_US) for box_us, t in mine] == [
        (True, True)
    ]


@pytest.mark.parametrize("period_us", [119_000, 300_000])
def test_pulses_of_1500_us_far_apart_are_no_presses(play, period_us):
    timeline = Timeline()
    timeline.duel()
    timeline.pulses(B, 200_000, LATER_US, period_us, 1_500)
    timeline.press(PRESSED_US, A)
    timeline.press(LATER_US + 3_000, B)
    check_hum(play(timeline, LATER_US + 200_000), [(A, PRESSED_US), (B, LATER_US + 3_000)])


@pytest.mark.slow
@pytest.mark.parametrize("shape", [None, "3 of 20 ms"])
def test_no_press_with_5_ms_of_bounce_is_lost(play, shape):
    """Of two hundred presses of 30 to 80 ms, on two quiet lines or one that hums and one that does not."""
    rng, timeline, wanted = random.Random(200), Timeline(), []
    timeline.duel()
    if shape:
        hum(timeline, shape, 50, 60_000, 200_000 + 200 * 160_000)
    for n in range(200):
        at_us, hold_us = 200_000 + n * 160_000 + rng.uniform(0, 20_000), rng.uniform(30_000, 80_000)
        timeline.again(at_us - 20_000)
        flips = [0.0, *sorted(rng.uniform(50, 5_000) for _ in range(2 * rng.randrange(1, 8)))]
        for down_us, up_us in zip(flips[::2], [*flips[1::2], hold_us], strict=True):
            timeline.pin(at_us + down_us, n % 2, True)
            timeline.pin(at_us + up_us, n % 2, False)
        timeline.tell(at_us + 100_000, "RFACK", 10**8, 1)
        wanted.append((n % 2, at_us))
    got = play(timeline, 200_000 + 200 * 160_000).presses()
    assert [button for button, _, _ in got] == [button for button, _ in wanted]
    for (button, box_us, told_us), (_, at_us) in zip(got, wanted, strict=True):
        bound_us = NOISY_US if shape and button == B else STAMP_ERROR_US
        assert -BOX_ZERO_US - bound_us < box_us - at_us < bound_us and told_us - at_us < TOLD_US


def bounce_train(rng):
    """Times in microseconds after the first edge: bounce and induced pulses, all within ten milliseconds."""
    flips = sorted(rng.uniform(20, 10_000) for _ in range(2 * rng.randrange(12)))
    return [0.0, *flips]


@pytest.mark.slow
def test_one_press_for_each_random_bounce_train(play):
    rng, timeline, wanted = random.Random(11), Timeline(), []
    timeline.duel()
    for n in range(TRAINS):
        at_us = 200_000 + n * 400_000 + rng.uniform(0, 1_000)
        timeline.again(at_us - 20_000)
        for k, flip_us in enumerate(bounce_train(rng)):
            timeline.pin(at_us + flip_us, n % 4, k % 2 == 0)
        timeline.pin(at_us + 40_000, n % 4, False)
        for _ in range(rng.randrange(6)):
            bounce_us = at_us + 40_000 + rng.uniform(50, 10_000)
            timeline.pulses(n % 4, bounce_us, bounce_us + 1, 10, rng.uniform(0.2, 300))
        timeline.tell(at_us + 150_000, "RFACK", 10**8, 1)
        wanted.append((n % 4, at_us))
    outcome = play(timeline, 200_000 + TRAINS * 400_000)
    got = outcome.presses()
    assert [button for button, _, _ in got] == [button for button, _ in wanted]
    late_us = [told_us - at_us for (_, _, told_us), (_, at_us) in zip(got, wanted, strict=True)]
    stamps = [box_us - at_us for (_, box_us, _), (_, at_us) in zip(got, wanted, strict=True)]
    print(
        f"{TRAINS} trains: told after at most {max(late_us):.0f} us, stamps {min(stamps):.0f} to {max(stamps):.0f} us"
    )
    assert max(late_us) < TOLD_US
    assert max(stamps) - min(stamps) < 3_000, "at most a first spike of less than 16 us may be passed over"


def test_a_button_held_over_a_reset_is_no_press(play):
    """Seen before: the session took it for a Stop of a player who had pressed nothing."""
    timeline = Timeline()
    timeline.pin(1.0, A, True)
    timeline.duel()
    timeline.rows.append((1_000_000, "reset"))
    timeline.duel(1_100_000)
    timeline.press(1_500_000, B)
    outcome = play(timeline, 1_700_000)
    assert [button for button, _, _ in outcome.presses()] == [B]
    assert ("BXHLD", (A,)) in outcome.kinds("BXHLD")


def test_a_box_that_hangs_is_restarted_by_its_watchdog_and_says_so(play):
    timeline = Timeline()
    timeline.duel()
    timeline.rows.append((300_000, "hang"))
    timeline.duel(700_000)
    timeline.press(900_000, B)
    outcome = play(timeline, 1_000_000)
    starts = outcome.kinds("BXBOT")
    assert len(outcome.sentences("BXHEL")) == 2 and [button for button, _, _ in outcome.presses()] == [B]
    timeline.tell(950_000, "RFTST")
    (_, fields), *_ = play(timeline, 1_000_000).kinds("BXTST")
    assert fields[2] & 8, f"the watchdog is the cause, not {fields}, {starts}"


EEPROMS = {
    "0, 1, 2, 3": bytes(range(15)),
    "random": random.Random(1).randbytes(15),
    "a text": b"\x00\x00hello, world!",
    "zeros": bytes(15),
    "a float": b"\xc3\xf5\x48\x40" + b"\xff" * 11,
}


@pytest.mark.parametrize("eeprom", EEPROMS.values(), ids=EEPROMS)
def test_a_used_arduino_is_a_box(play, eeprom):
    """Seen before: its hello was refused by the host, with four of these five."""
    timeline = Timeline()
    timeline.tell(BOOTED_US, "RFHEL", protocol=1)
    outcome = play(timeline, 100_000, eeprom=eeprom.hex())
    assert [fields[1] for _, fields in outcome.kinds("BXHEL")] == ["BOX1"]


def test_a_name_of_ones_own_is_kept(play):
    timeline = Timeline()
    timeline.tell(BOOTED_US, "RFHEL", protocol=1)
    outcome = play(timeline, 100_000, eeprom=(b"\x05\x00red-7" + bytes(8)).hex())
    assert [fields[1:3] for _, fields in outcome.kinds("BXHEL")] == [("red-7", 6)]


def test_presses_of_start_and_next_cannot_push_out_a_duel(play):
    timeline = Timeline()
    timeline.duel()
    timeline.press(300_000, A)
    timeline.press(310_000, B)
    for n in range(22):
        timeline.press(600_000 + n * 200_000, NEXT, 40_000)
    timeline.tell(5_300_000, "RFHEL", 2)
    timeline.tell(5_400_000, "RFRSN", 0)
    outcome = play(timeline, 5_600_000)
    *_, (_, hello) = outcome.sentences("BXHEL")
    first, _, overwritten = hello.fields[-3:]
    assert (first, overwritten) == (1, 0)
    assert [button for button, _, _ in outcome.presses()] == [A, B]


def test_the_first_stop_lights_its_lamp_and_sounds_and_a_host_that_goes_away_is_seen(play):
    timeline = Timeline()
    timeline.duel()
    timeline.press(300_000, B)
    timeline.press(320_000, A)
    outcome = play(timeline, 2_200_000)
    assert [hz for _, hz in outcome.tones if hz] == pytest.approx([1750], rel=0.05)
    assert [lamp for at_us, lamp, on in outcome.lamps if on and at_us > 290_000] == [B]
    connected = [(at_us, on) for at_us, lamp, on in outcome.lamps if lamp == 4 and at_us > BOOTED_US]
    assert [on for _, on in connected] == [True, False]
    assert connected[1][0] - connected[0][0] == pytest.approx(2_000_000, abs=50_000)


PAD_A, PAD_B = 5, 6
STEP_US = 1_000_000


def countdown(leave_us=None):
    """Both rest, a countdown begins at 200 ms; B may leave."""
    timeline = Timeline()
    timeline.pin(1.0, PAD_A, True)
    timeline.pin(1.0, PAD_B, True)
    timeline.tell(150_000, "RFHEL", 2)
    timeline.tell(160_000, "RFARM")
    timeline.tell(200_000, "RFGOO", 1)
    if leave_us is not None:
        timeline.pin(leave_us, PAD_B, False)
    return timeline


def test_a_countdown_has_three_tones_and_then_the_go(play):
    outcome = play(countdown(), 4_500_000)
    begun = [hz for _, hz in outcome.tones if hz]
    assert begun == pytest.approx([1150, 1150, 1150, 2300], rel=0.05)
    (_, go), *_ = outcome.sentences("BXGOO")
    assert abs(go.box_us - 200_000 - 3 * STEP_US) < 5_000
    assert [on for _, lamp, on in outcome.lamps if lamp == 5][-2:] == [True, False], "armed, until the go"


@pytest.mark.parametrize("leave_us", [700_000.0, 3_190_000.0, 3_198_000.0])
def test_leaving_the_mark_before_the_go_is_a_false_start_with_its_time(play, leave_us):
    outcome = play(countdown(leave_us), 4_500_000)
    (_, false_start), *_ = outcome.sentences("BXFLS")
    assert false_start.fields[1] == 1 and abs(false_start.box_us - leave_us) < 2_000
    if leave_us < 3_195_000:
        assert not outcome.sentences("BXGOO"), "and there is no go"


def test_the_armed_lamp_waits_for_both(play):
    timeline = countdown()
    timeline.rows = [row for row in timeline.rows if "tx" not in row[1] or row[0] < 190_000]
    timeline.pin(500_000, PAD_A, False)
    timeline.pin(900_000, PAD_A, True)
    armed = [(round(at_us, -5), on) for at_us, lamp, on in play(timeline, 1_200_000).lamps if lamp == 5 and at_us > 1e5]
    assert armed == [(200_000, True), (500_000, False), (1_000_000, True)]


@pytest.mark.slow
@pytest.mark.parametrize("gap_us", [1_000, 200, 30])
def test_all_pairs_come_in_their_order(play, gap_us):
    rng, timeline, wanted = random.Random(gap_us), Timeline(), []
    timeline.duel()
    for n in range(PAIRS):
        at_us = 200_000 + n * 100_000 + round(rng.uniform(0, 30_000) * 16) / 16
        first, second = rng.sample([(0, 1), (2, 3)][n % 2], 2)
        timeline.again(at_us - 40_000)
        timeline.press(at_us, first, 25_000)
        timeline.press(at_us + gap_us, second, 25_000)
        timeline.tell(at_us - 30_000, "RFCLK")
        timeline.tell(at_us - 10_000, "RFACK", 10**8, 1)
        timeline.tell(at_us + rng.uniform(-2_000, 500), "RFCLK")  # so that the line is busy
        wanted += [first, second]
    got = play(timeline, 200_000 + PAIRS * 100_000).presses()
    assert len(got) == len(wanted)
    right = sum(got[n][0] == wanted[n] for n in range(0, len(wanted), 2))
    print(f"{gap_us} us apart: {right} of {PAIRS} pairs in order")
    assert right == PAIRS


def test_the_mega_does_the_same(timeline_program, mega_elf):
    """Seen before: it compiled silently with the interrupt pins of an Uno."""
    timeline = Timeline()
    timeline.duel()
    for button in range(4):
        timeline.press(300_000 + 40 * button, 3 - button)
    timeline.press(600_000, NEXT)
    outcome = timeline.run(timeline_program, mega_elf, 800_000, board="mega")
    check_presses(outcome, [(3 - button, 300_000 + 40 * button) for button in range(4)])
    assert outcome.sentences("BXNXT") and (3, True) in [(lamp, on) for _, lamp, on in outcome.lamps]


def test_stack_and_data_do_not_meet(play, elf):
    timeline = Timeline()
    timeline.duel()
    for button in range(4):
        timeline.press(300_000, button)
    timeline.pulses(NEXT, 300_000, 900_000, 150, 40)
    for n in range(60):
        timeline.tell(300_000 + n * 10_000, "RFCLK")
    outcome = play(timeline, 1_200_000)
    data_end = 0x100 + ram_bytes(elf)
    print(
        f"lowest stack pointer {outcome.stack:#x}, data ends at {data_end:#x}: {outcome.stack - data_end} bytes between"
    )
    assert outcome.stack - data_end > 256


def ram_bytes(elf):
    """Bytes of static data."""
    from .conftest import run

    rows = [words for words in map(str.split, run("avr-size", "-A", elf).splitlines()) if len(words) == 3]
    return sum(int(count) for name, count, _ in rows if name in (".data", ".bss", ".noinit"))


WRAP_US = 2**32


@pytest.mark.parametrize("after_wrap_us", [-300_000, -29_000, 0, 10_000, 400_000])
def test_presses_keep_order_and_distance_where_micros_wraps_within_a_duel(play, elf, after_wrap_us):
    """After 71.6 minutes. The core counts 1,024 us in ``timer0_overflow_count``: it is set shortly before its wrap."""
    found = subprocess.run(["avr-nm", elf], capture_output=True, text=True, check=True).stdout.splitlines()
    address = next(int(line.split()[0], 16) & 0xFFFF for line in found if line.endswith(" timer0_overflow_count"))
    timeline, left_us = Timeline(), 1_000_448
    timeline.rows.append((BOOTED_US - 10_000, f"ram {address} {(WRAP_US - left_us) // 1024}"))
    timeline.duel()
    wrap_us = BOOTED_US - 10_000 + left_us
    timeline.press(wrap_us + after_wrap_us - 20_000, B)
    timeline.press(wrap_us + after_wrap_us, A)
    timeline.tell(wrap_us + 600_000, "RFCLK")
    outcome = play(timeline, wrap_us + 800_000)
    (first, first_us, _), (second, second_us, _) = outcome.presses()
    assert (first, second) == (B, A) and abs(second_us - first_us - 20_000) < STAMP_ERROR_US
    assert abs(second_us - WRAP_US - after_wrap_us) < 3_000
    ((_, clock),) = outcome.sentences("BXCLK")
    assert clock.box_us > WRAP_US + 500_000 and not outcome.sentences("BXNOI", "BXSTK", "BXHLD")
