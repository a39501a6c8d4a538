"""The clock tie on a few round trips that can be worked out by hand: every bound to the last digit."""

from __future__ import annotations

import math

import pytest

from referee.devices.clock_sync import ClockTie, FrameTie

S = 1_000_000  # device microseconds in a second


def near(*values):
    return pytest.approx(values, abs=1e-9)


def tied(*trips, span=0.5, wander=0.0, kept=40):
    """A tie that has heard those (sent_s, device_us, received_s)."""
    tie = ClockTie(span, kept, wander)
    for trip in trips:
        tie.add(*trip)
    return tie


# --- One round trip ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("device_us", "window"),
    [
        (1 * S, (10.0, 10.2)),
        (2 * S, (10.5, 11.7)),  # a second later, by a rate of 0.5 to 1.5
        (0, (8.5, 9.7)),  # a second earlier
        (4 * S, (11.5, 14.7)),
    ],
)
def test_one_round_trip_confines_every_time_by_the_believed_rate(device_us, window):
    tie = tied((10.0, S, 10.2))
    assert tie.window_s(device_us) == near(*window)
    middle, bound = sum(window) / 2, (window[1] - window[0]) / 2
    assert tie.to_host(device_us) == near(middle, bound)


def test_before_any_round_trip_nothing_is_known():
    tie = ClockTie()
    assert tie.window_s(5) == (-math.inf, math.inf) and tie.to_host(5) == (0.0, math.inf)
    assert (tie.newest_us(), len(tie), tie.restarts, tie.outliers) == (0, 0, 0, 0)
    assert tie.rate() == near(0.95, 1.05)  # five hundredths are believed


def test_the_newest_sample_is_the_last_that_was_added():
    assert tied((10.0, 7, 10.2), (11.0, S, 11.2)).newest_us() == S


def test_forty_round_trips_are_kept():
    tie = ClockTie()
    for n in range(50):
        tie.add(10.0 + n, n * S, 10.1 + n)
    assert len(tie) == 40


# --- The rate ---------------------------------------------------------------------------------------


def test_two_round_trips_confine_the_rate():
    tie = tied((10.0, 0, 10.2), (14.0, 4 * S, 14.1))
    assert tie.rate() == near((14.0 - 10.2) / 4, (14.1 - 10.0) / 4)


def test_the_wander_is_given_to_the_rate_on_both_sides_but_never_beyond_what_is_believed():
    trips = (10.0, 0, 10.2), (14.0, 4 * S, 14.1)
    assert tied(*trips, wander=0.01).rate() == near(0.94, 1.035)
    assert tied(*trips, wander=0.01, span=0.02).rate() == near(0.98, 1.02)
    assert tied(*trips, wander=1.0).rate() == near(0.5, 1.5)


def test_by_default_a_rate_may_wander_by_six_hundred_millionths():
    tie = ClockTie()
    for trip in ((0.0, 0, 0.01), (100.0, 100 * S, 100.01)):
        tie.add(*trip)
    assert tie.rate() == near(0.9999 - 600e-6, 1.0001 + 600e-6)


def test_round_trips_of_one_device_time_say_nothing_of_the_rate():
    assert tied((10.0, S, 10.2), (10.1, S, 10.3)).rate() == near(0.5, 1.5)


def test_an_earlier_device_time_bounds_the_rate_as_well():
    """A reply that was overtaken: its device time is older than the last one's."""
    tie = tied((14.0, 4 * S, 14.1), (10.0, 0, 10.2))
    assert tie.rate() == near((14.0 - 10.2) / 4, (14.1 - 10.0) / 4)


def test_of_three_bounds_or_more_the_best_is_not_believed_alone():
    trips = [(10.0 * n, 10 * n * S, 10.0 * n + delay_s) for n, delay_s in enumerate((0.1, 0.1, 0.5, 0.9))]
    tie = tied(*trips)
    low, high = tie.rate()
    ages = (30.0, 20.0, 10.0, 0.0)
    early = sorted(sent_s + low * age_s for (sent_s, _, _), age_s in zip(trips, ages, strict=True))
    late = sorted(received_s + high * age_s for (_, _, received_s), age_s in zip(trips, ages, strict=True))
    assert low < 1.0 < high and tie.window_s(30 * S) == near(early[-2], late[1])


def test_the_rate_is_the_second_best_of_what_each_round_trip_says():
    trips = [(0.0, 0, 0.1), (10.0, 10 * S, 10.1), (20.0, 20 * S, 20.1), (30.0, 30 * S, 30.1), (40.0, 40 * S, 40.1)]
    # the n-th trip's bounds are 1 -+ 0.1 / age, second best of its ages where there are three or more
    told = [0.1 / 10, 0.1 / 20, 0.1 / 20, 0.1 / 30]
    best = sorted(told)[1]
    assert tied(*trips).rate() == near(1 - best, 1 + best)


def test_a_rate_that_is_seen_to_change_widens_its_bounds_by_that_change():
    # first 1.0 exactly, then 1.1 exactly: the bounds cross, and each is moved by as much as they do
    trips = [(0.0, 0, 0.0), (10.0, 10 * S, 10.0), (20.0, 20 * S, 20.0)]
    tie = tied(*trips, span=0.5, wander=0.02)
    assert tie.rate() == near(0.98, 1.02)
    tie._rates.extend([(1.1, 1.1), (1.1, 1.1)])
    assert tie.rate() == near(1.1 - 0.02 - 0.1, 1.0 + 0.02 + 0.1)


# --- Jumps ------------------------------------------------------------------------------------------


STEADY = tuple((n * 1.0, n * S, n * 1.0 + 0.1) for n in range(5))


def test_one_reply_that_fits_nothing_is_kept_aside_and_the_next_that_fits_calls_it_an_outlier():
    tie = tied(*STEADY, span=0.01)
    before = tie.window_s(6 * S)
    tie.add(5.0, 9 * S, 5.1)
    assert (tie.window_s(6 * S), len(tie), tie.outliers, tie.restarts) == (before, 5, 0, 0)
    tie.add(6.0, 6 * S, 6.1)
    assert (len(tie), tie.outliers, tie.restarts) == (6, 1, 0)
    tie.add(7.0, 7 * S, 7.1)
    assert tie.outliers == 1


def test_two_replies_in_a_row_that_fit_nothing_begin_anew_with_both():
    tie = tied(*STEADY, span=0.01)
    tie.add(5.0, 105 * S, 5.1)
    tie.add(6.0, 106 * S, 6.1)
    assert (len(tie), tie.restarts, tie.outliers, tie.newest_us()) == (2, 1, 0, 106 * S)
    assert tie.window_s(106 * S)[0] >= 6.0 and tie.window_s(106 * S)[1] <= 6.1
    tie.add(7.0, 107 * S, 7.1)
    assert (len(tie), tie.restarts, tie.outliers) == (3, 1, 0)


def test_of_two_that_contradict_each_other_the_later_begins():
    tie = tied(*STEADY, span=0.01)
    tie.add(5.0, 105 * S, 5.1)
    tie.add(6.0, 50 * S, 6.1)
    assert (len(tie), tie.restarts, tie.newest_us()) == (1, 1, 50 * S)


def test_a_second_reply_that_contradicts_the_only_one_begins_anew_at_once():
    tie = tied((0.0, 10 * S, 0.1), span=0.01)
    tie.add(1.0, 3 * S, 1.1)
    assert (len(tie), tie.restarts, tie.newest_us()) == (1, 1, 3 * S)


def test_two_that_agree_on_an_unbelievable_rate_are_believed_twice_over():
    tie = tied((0.0, 0, 0.0), span=0.01)
    tie.add(1.2, S, 1.2)  # 20 % slow
    assert (len(tie), tie.restarts) == (2, 1)
    assert tie.rate() == near(1.2, 1.2)
    tie._rates.clear()
    assert tie.rate() == near(0.6, 1.4)
    tie = tied((0.0, 0, 0.0), span=0.01)
    tie.add(0.7, S, 0.7)  # 30 % fast
    tie._rates.clear()
    assert tie.rate() == near(0.4, 1.6)


def test_however_mad_the_rate_the_clock_still_runs_forward():
    tie = tied((0.0, 0, 0.0), span=0.01)
    tie.add(0.1, S, 0.1)
    tie._rates.clear()
    assert tie.rate() == near(0.01, 1.99)


def test_a_host_that_jumped_twice_is_no_rate_and_leaves_the_last_reply():
    """Two jumps of 12 s between three replies: a rate of 21 would give windows that begin after their end."""
    tie = tied(*STEADY, span=0.0006)
    tie.add(17.0, 105 * S, 17.1)
    tie.add(29.6, 105 * S + 600_000, 29.7)
    assert (len(tie), tie.restarts, tie.newest_us()) == (1, 1, 105 * S + 600_000)
    early, late = tie.window_s(106 * S)
    assert early <= 30.0 and 30.1 <= late <= 30.2


def test_a_rate_within_the_span_widens_nothing():
    tie = tied((0.0, 0, 0.0), (5.0, 5 * S, 5.0), span=0.3)
    tie.add(60.0, 6 * S, 60.0)
    tie.add(61.2, 7 * S, 61.2)
    tie._rates.clear()
    assert (tie.restarts, tie.rate()) == (1, near(0.7, 1.3))


def test_a_rate_at_the_spans_edge_widens_nothing_either():
    tie = tied((0.0, 0, 0.0), (5.0, 5 * S, 5.0), span=0.5)
    tie.add(60.0, 6 * S, 60.0)
    tie.add(63.0, 8 * S, 63.0)  # half as fast again, to the last digit
    tie._rates.clear()
    assert (tie.restarts, tie.rate()) == (1, near(0.5, 1.5))


def test_two_replies_of_one_device_time_that_fit_nothing_begin_anew_with_the_later():
    tie = tied(*STEADY, span=0.01)
    tie.add(5.0, 105 * S, 5.1)
    tie.add(6.0, 105 * S, 6.1)
    assert (len(tie), tie.restarts, tie.newest_us()) == (1, 1, 105 * S)
    assert tie.window_s(105 * S) == near(6.0, 6.1)


def test_what_only_touches_fits():
    tie = tied((0.0, 0, 0.5), (1.0, S, 1.5), (2.0, 2 * S, 2.5), span=0.0)
    low, high = tie.window_s(3 * S)
    tie.add(high, 3 * S, high + 9.0)
    assert (len(tie), tie.restarts) == (4, 0)
    tie = tied((0.0, 0, 0.5), (1.0, S, 1.5), (2.0, 2 * S, 2.5), span=0.0)
    tie.add(low - 1.0, 3 * S, low)
    assert (len(tie), tie.restarts) == (4, 0)


def test_clearing_forgets_all_that_was_learnt():
    tie = tied((0.0, 0, 0.0), span=0.01)
    tie.add(1.2, S, 1.2)
    tie.clear()
    assert (len(tie), tie.newest_us(), tie.rate()) == (0, 0, near(0.99, 1.01))
    tie = tied(*STEADY, span=0.01)
    tie.add(5.0, 105 * S, 5.1)
    tie.clear()
    tie.add(6.0, 0, 6.1)
    assert (tie.outliers, tie.restarts, len(tie)) == (0, 0, 1)


# --- A camera's frames ------------------------------------------------------------------------------


def framed(*frames, span=0.1, kept=120):
    """A tie of a camera whose frames take 20 to 50 ms, with those (frame_us, arrived_s)."""
    tie = FrameTie((0.02, 0.05), span, kept)
    for frame in frames:
        tie.add(*frame)
    return tie


def window(tie, frame_us):
    middle, bound = tie.to_host(frame_us)
    return middle - bound, middle + bound


def test_one_frame_was_exposed_so_long_before_it_came():
    assert window(framed((S, 10.0)), S) == near(9.95, 9.98)


def test_another_frames_time_follows_by_the_believed_rate():
    assert window(framed((S, 10.0)), 2 * S) == near(9.98 + 0.9 - 0.03, 9.98 + 1.1)
    assert window(framed((S, 10.0)), 0) == near(9.98 - 1.1 - 0.03, 9.98 - 0.9)


def test_the_quickest_arrival_rules():
    tie = framed((0, 10.5), (S, 11.0), (2 * S, 12.7))
    assert window(tie, 2 * S) == near(min(10.48 + 1.8, 10.98 + 0.9, 12.68) - 0.03, min(10.48 + 2.2, 10.98 + 1.1, 12.68))


def test_a_stamp_that_does_not_grow_begins_anew():
    for again_us in (S, 5):
        assert window(framed((S, 10.0), (again_us, 20.0)), again_us) == near(19.95, 19.98)
    assert window(framed((S, 10.0), (S + 1, 20.0)), S) == near(9.95, 9.98)


def test_before_the_first_frame_nothing_is_known():
    assert framed().to_host(5) == (0.0, math.inf)


def test_by_default_a_camera_keeps_a_thousandth_and_four_seconds_of_frames_count():
    tie = FrameTie((0.0, 0.0))
    tie.add(0, 10.0)
    assert window(tie, S) == near(10.999, 11.001)
    for n in range(1, 121):
        tie.add(n, 500.0)
    assert tie.to_host(120)[0] == pytest.approx(500.0, abs=1e-3)  # the first, quickest one is forgotten
    tie = FrameTie((0.0, 0.0))
    tie.add(0, 10.0)
    for n in range(1, 120):
        tie.add(n, 500.0)
    assert tie.to_host(119)[0] == pytest.approx(10.0, abs=1e-3)
