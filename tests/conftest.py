"""What every test must leave behind: no thread, no warning, no file."""

from __future__ import annotations

import os
import tempfile
import threading
import time

import pytest
from browser import chromium
from flask import Flask
from jinja2 import FileSystemBytecodeCache

GRACE_S = 2.0
"""Threads that were told to end get this long."""

LASTING = ("asyncio_", "ThreadPoolExecutor-loop", "pytest_timeout")
"""Names of threads that test libraries keep for the whole run."""


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


@pytest.fixture(autouse=True, scope="session")
def temporary_files_go(tmp_path_factory):
    """What tests, and programs that they kill, leave among temporary files goes when the run ends. The many apps of a
    run compile each template once.
    """
    tmp_path_factory.getbasetemp()  # which stays where it always is
    with tempfile.TemporaryDirectory(prefix="referee-tests-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)  # some programs run as another user
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TMPDIR", folder)
            patch.setattr(tempfile, "tempdir", folder)
            patch.setattr(Flask, "jinja_options", {"bytecode_cache": FileSystemBytecodeCache(folder)})
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


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all tests of a process: playwright runs once in a thread."""
    with chromium() as running:
        yield running
