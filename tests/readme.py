"""The README's two commands, cut out of it, and the first of them run the way a reader would.

    tests/readme.py show 1            the first command, as it stands
    tests/readme.py demo COMMAND      run a command that ends in a demo until a duel was refereed, then press Ctrl-C
    tests/readme.py lonely COMMAND    the same as nobody: no network, no HOME, port 8000 taken (as root, in Linux)

Needs nothing but Python. The limits are for a machine that is busy with something else.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
LIMIT_S = 1800
NOBODY = 65534


def commands() -> list[str]:
    """The README's first two commands."""
    blocks = re.findall(r"^```sh\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)
    return [block.strip() for block in blocks[:2]]


def referee_demo(command: str, **how: object) -> None:
    """Run a demo until its board was fetched and a duel is over; Ctrl-C must end it politely."""
    began = time.monotonic()
    program = subprocess.Popen(
        ["sh", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        **how,
    )
    signal.alarm(LIMIT_S)
    try:
        for line in program.stdout:
            print(f"{time.monotonic() - began:6.1f} s  {line}", end="", flush=True)
            if found := re.search(r"board: (http\S+)", line):
                with urllib.request.urlopen(found[1], timeout=LIMIT_S) as answer:
                    assert b"SIMULATED" in answer.read()
            if re.match(r"duel \d+:", line):
                break
        else:
            sys.exit(f"the demo ended by itself, status {program.wait()}")
        os.kill(_last_child(program.pid), signal.SIGINT)
        rest = program.communicate()[0]
        print(rest, end="")
        if program.returncode or "Traceback" in rest:
            sys.exit(f"the demo did not end well, status {program.returncode}")
    finally:
        signal.alarm(0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)


def _last_child(process: int) -> int:
    """What a shell waits for, at the end of all shells: where Ctrl-C is meant to go."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    name = Path(f"/proc/{process}/comm").read_text().strip()
    return _last_child(int(children[0])) if children and name in ("sh", "dash", "bash") else process


@contextlib.contextmanager
def lonely_host() -> Iterator[None]:
    """No network but this machine's own, and there somebody else has port 8000. Needs root."""
    os.unshare(os.CLONE_NEWNET) if hasattr(os, "unshare") else _unshare_network()
    with socket.socket() as line, socket.socket() as other:
        import fcntl

        up = struct.pack("16sH14s", b"lo", 0x1 | 0x40, b"")  # IFF_UP, IFF_RUNNING
        fcntl.ioctl(line, 0x8914, up)  # SIOCSIFFLAGS
        other.bind(("127.0.0.1", 8000))
        other.listen()
        yield


def _unshare_network() -> None:
    """``os.unshare`` came with Python 3.12."""
    import ctypes

    if ctypes.CDLL(None, use_errno=True).unshare(0x40000000):
        raise OSError(ctypes.get_errno(), "unshare")


def lonely(command: str) -> None:
    """Run a demo as nobody, in a folder of nobody's, with nothing in the environment but where programs are."""
    folder = tempfile.mkdtemp()
    os.chown(folder, NOBODY, NOBODY)
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    try:
        with lonely_host():
            referee_demo(command, cwd=folder, env={"PATH": os.defpath, "BROWSER": "true"}, **who)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    job, what = sys.argv[1:]
    if job == "show":
        print(commands()[int(what) - 1])
    else:
        {"demo": referee_demo, "lonely": lonely}[job](what)
