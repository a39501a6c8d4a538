"""Machine code run without numba: what goes in, what comes out, and what does not fit."""

import ctypes
import resource
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple
from uuid import uuid4

import numpy as np
import pytest

from referee.vision.search import machine_code
from referee.vision.search.jit import inner, loop, plain
from referee.vision.search.machine_code import Misfit, described, entry_of


class _Pair(NamedTuple):
    left: np.ndarray
    right: np.ndarray


@loop
def _measured(pair, flag, count, scale):
    made = np.zeros((count, 2))
    made[:, 0] = pair.left[0]
    made[:, 1] = scale
    some = []
    for i in range(count):
        some.append(i * scale)
    return made, (len(some), pair.right.sum(), flag and count > 1), np.float32(0.25)


@plain
def _inverse(x):
    return 1 / x


@plain
def _corner(picture):
    return picture[0, 0]


def test_numbers_arrays_and_tuples_go_in_and_come_out():
    pair = _Pair(np.array([3.5, 1.0]), np.arange(4, dtype=np.int8))
    for count in (3, 0):
        made, (length, total, flag), quarter = _measured(pair, True, count, 2.0)
        assert made.tolist() == [[3.5, 2.0]] * count and made.shape == (count, 2) and made.flags.owndata
        assert (length, total, flag, quarter) == (count, 6, count > 1, 0.25) and type(flag) is bool


def test_a_kernel_may_give_nothing():
    @plain
    def doubled(numbers):
        for i in range(len(numbers)):
            numbers[i] *= 2

    numbers = np.arange(3.0)
    assert doubled(numbers) is None and numbers.tolist() == [0.0, 2.0, 4.0]


def test_numpys_numbers_are_numbers():
    pair = _Pair(np.array([3.5]), np.zeros(1, np.int8))
    assert _measured(pair, np.bool_(True), np.int64(2), np.float64(1.0))[1] == (2, 0, True)


def test_what_is_of_another_type_is_compiled_for_it():
    forms = [_corner(picture) for picture in (np.full((2, 2), 7, np.uint8), np.full((2, 2), 1.5), np.eye(3)[:, 1:])]
    assert forms == [7, 1.5, 0.0]
    read_only = np.full((2, 2), 9, np.uint8)
    read_only.flags.writeable = False
    assert _corner(read_only) == 9


def test_an_array_that_is_no_tuples_any_more_is_not_taken_for_it():
    first, second = (_Pair(np.array([x]), np.zeros(1, np.int8)) for x in (1.0, 2.0))
    values = [_measured(pair, True, 1, 0.0)[0][0, 0] for pair in (first, second, first)]
    many = [_measured(_Pair(np.array([float(x)]), np.zeros(1, np.int8)), True, 1, 0.0)[0][0, 0] for x in range(50)]
    assert values == [1.0, 2.0, 1.0] and many == list(map(float, range(50)))


def test_what_a_kernel_raises_is_an_error():
    with pytest.raises(RuntimeError, match="_inverse failed"):
        _inverse(0)
    assert _inverse(4) == 0.25


@pytest.mark.parametrize("given", ["text", None, [1], np.float16(1.0), {1: 2}])
def test_what_no_kernel_takes_is_refused(given):
    with pytest.raises(Misfit):
        described(given)


def test_a_kernel_for_other_kernels_is_not_called():
    @inner
    def hidden(x):
        return x

    with pytest.raises(TypeError, match="for other kernels"):
        hidden(1)


def test_threads_share_a_kernel():
    pair = _Pair(np.array([1.0]), np.zeros(1, np.int8))
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda n: _measured(pair, True, n, float(n))[0], range(200)))
    assert all(each.shape == (n, 2) and (each[:, 1] == n).all() for n, each in enumerate(made))


def test_what_a_kernel_gave_back_is_freed():
    pair = _Pair(np.array([1.0]), np.zeros(1, np.int8))
    _measured(pair, True, 100_000, 1.0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100):
        _measured(pair, True, 100_000, 1.0)  # 1.6 MB of array and as much of list each
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


def test_machine_code_of_another_processor_is_not_taken(monkeypatch):
    entry = entry_of(_inverse, [described(1)])
    monkeypatch.setattr(machine_code, "_processor", lambda: ("x86_64", "i486", ""))
    assert entry_of(_inverse, [described(1)]) != entry


def test_what_needs_a_function_that_is_not_there_is_compiled_instead(tmp_path, monkeypatch):
    monkeypatch.setattr(machine_code, "cache_folder", lambda: tmp_path)
    salt = float(uuid4().int % 1_000_003 + 1)  # new content, that nothing was kept of

    @loop
    def salted(x):
        return x + salt

    assert salted(1.0) == 1.0 + salt
    (path,) = tmp_path.glob("salted-*.machine")
    machine = machine_code._read(path.stem)
    assert machine_code._is_usable(machine)
    assert not machine_code._is_usable(machine._replace(needed=["no_such_function"]))
    assert not machine_code._is_usable(machine._replace(called={"callee": "no-such-entry"}))


def test_slots_are_eight_bytes_each():
    class Three(NamedTuple):
        a: int
        b: float
        c: bool

    taker = machine_code._taker(described(Three(1, 2.0, True)))
    given = taker(Three(7, 0.5, False))
    assert len(given) == 3 * ctypes.sizeof(ctypes.c_int64) and given == bytes([7] + 7 * [0]) + np.float64(
        0.5
    ).tobytes() + bytes(8)
