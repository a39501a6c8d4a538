"""What every test must leave behind: no thread, no warning, no file."""

from __future__ import annotations

import gc
import itertools
import multiprocessing.util
import os
import subprocess
import sys
import tempfile
import threading
import time

import pytest
from browser import chromium
from flask import Flask
from jinja2 import FileSystemBytecodeCache
from werkzeug.routing import Rule

from referee.cli import main

GRACE_S = 2.0
"""Threads that were told to end get this long."""

LASTING = ("asyncio_", "ThreadPoolExecutor-loop", "pytest_timeout")
"""Names of threads that test libraries keep for the whole run."""

LONGEST = (
    "test_whole_evening.py",
    "test_match_at_table.py",
    "test_match_in_browser.py",
    "test_readme.py",
    "test_demo.py",
    "test_sixteen_tables.py",
    "test_in_browser.py",
    "test_journal_damage.py",
    "test_phone.py",
    "test_play.py",
    "test_rejudge_archive.py",
    "test_load.py",
)
"""Files with tests that take a minute or so each, most of it waiting."""


gc.set_threshold(50_000, 20, 50)  # Python's own numbers take a tenth of all time, among so many tests and modules


def pytest_ignore_collect(collection_path, config):
    """A file of which no test is asked for is not even read: each of several processes would import all of them."""
    asked = config.option.markexpr
    if collection_path.suffix != ".py" or asked not in ("slow", "not slow"):
        return None
    text = collection_path.read_text("utf-8")
    unasked = "mark.slow" not in text if asked == "slow" else "\npytestmark = pytest.mark.slow\n" in text
    return unasked or None


def pytest_collection_finish():
    """The collected tests stay to the end: looking for garbage among them is in vain."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Each of several processes begins with some of the longest tests, so that none of them is left for the end, and
    gets the others file by file: a file's tests share what one of them has made.

    ``--dist worksteal`` first gives every process an equal part of the list.
    """
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if processes == 1:
        return
    longest = [item for item in items if item.path.name in LONGEST]
    others = [item for item in items if item.path.name not in LONGEST]
    parts = [longest[n::processes] for n in range(processes)]
    files = [list(tests) for _, tests in itertools.groupby(others, key=lambda item: item.path)]
    for tests in sorted(files, key=len, reverse=True):
        min(parts, key=len).extend(tests)
    items[:] = itertools.chain(*parts)


def _foreign(before: set[threading.Thread]) -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t not in before and t.is_alive() and not t.name.startswith(LASTING)]


@pytest.fixture(autouse=True)
def no_thread_is_leaked():
    """A thread that a test has started and not ended fails it."""
    before = set(threading.enumerate())
    yield
    end = time.monotonic() + GRACE_S
    while (left := _foreign(before)) and time.monotonic() < end:
        time.sleep(0.01)
    assert not left, f"threads left running: {[t.name for t in left]}"


def _kept(compile_builder):
    """The same, compiled once for all rules that are alike; it takes the rule as its first argument."""
    built = {}

    def kept(rule, append_unknown=True):
        alike = rule.rule, rule.subdomain, rule.host, repr(rule.defaults), append_unknown
        if alike not in built:
            built[alike] = compile_builder(rule, append_unknown)
        return built[alike]

    return kept


@pytest.fixture(autouse=True, scope="session")
def temporary_files_go(tmp_path_factory):
    """What tests, and programs that they kill, leave among temporary files goes when the run ends. The many apps of a
    run compile each template once, and what builds the address of a page.
    """
    tmp_path_factory.getbasetemp()  # which stays where it always is, as does what worker processes meet at
    multiprocessing.util.get_temp_dir()
    with tempfile.TemporaryDirectory(prefix="referee-tests-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)  # some programs run as another user
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TMPDIR", folder)
            patch.setattr(tempfile, "tempdir", folder)
            patch.setattr(Flask, "jinja_options", {"bytecode_cache": FileSystemBytecodeCache(folder)})
            patch.setattr(Rule, "_compile_builder", _kept(Rule._compile_builder))
            yield


@pytest.fixture(autouse=True)
def no_page_is_left_open(request):
    """Pages that a test has opened are closed behind it: they would go on asking a server that is gone."""
    if "browser" not in request.fixturenames:
        yield
        return
    browser = request.getfixturevalue("browser")
    before = set(browser.contexts)
    yield
    for context in set(browser.contexts) - before:
        context.close()


@pytest.fixture
def referee(capfd, monkeypatch):
    """``referee(*words)``: what the program does with these words, here: a process of its own takes a second."""

    def run(*words: object) -> subprocess.CompletedProcess:
        monkeypatch.setattr(sys, "argv", ["referee", *map(str, words)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        return subprocess.CompletedProcess(words, end.value.code or 0, *capfd.readouterr())

    return run


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests of a process: playwright runs once in a thread."""
    with chromium() as running:
        yield running
