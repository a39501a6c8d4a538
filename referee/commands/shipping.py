"""Makes ``referee/vision/search/kernels.zip``, the machine code that comes with the program (see ``search.shipped``).

``python -m referee.commands.shipping`` compiles what has changed, for the kind of processor that it is made for, in
two processes, and writes the file; with ``--all`` everything, after a change of compiler, in a minute or two. To be
run, and its file committed, when a kernel has changed: a test (``tests/vision/test_shipped.py``) says so.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from referee.commands import preparing
from referee.vision.search import shipped
from referee.vision.search.content import FOLDER_VARIABLE, read_entry
from referee.vision.search.jit import Kernel
from referee.vision.search.machine_code import ENDING, Machine, entry_of

PROGRAM = "from referee.commands.preparing import compile_all; compile_all({backwards})"
STAMP = (2020, 1, 1, 0, 0, 0)
"""The date of every member: what is made of the same sources is the same file."""


def compiled(folder: Path, anew: bool) -> None:
    """Compile every kernel into a folder, for the processor that is shipped for. Raises CalledProcessError.

    What the present pack has of the present sources is taken from there, unless everything is wanted ``anew``.
    """
    surroundings = {
        **os.environ,
        FOLDER_VARIABLE: str(folder),
        shipped.COMPILE_VARIABLE: "1" if anew else "",
        "NUMBA_CPU_NAME": shipped.PROCESSOR,
        "NUMBA_CPU_FEATURES": ",".join(f"+{feature}" for feature in shipped.FEATURES),
    }
    commands = [[sys.executable, "-c", PROGRAM.format(backwards=backwards)] for backwards in (False, True)]
    processes = [subprocess.Popen(each, env=surroundings, stdout=subprocess.DEVNULL) for each in commands]
    for process, command in zip(processes, commands, strict=True):
        if process.wait():
            raise subprocess.CalledProcessError(process.returncode, command)


def packed(folder: Path, pack: Path) -> int:
    """Write what a folder holds of the kernels loaded into a pack. Returns how many there are."""
    machines = dict(sorted(_machines(folder)))
    index = []
    with zipfile.ZipFile(pack, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for entry, (kernel, machine) in machines.items():
            if machine.needed:
                raise ValueError(f"{kernel.name} calls {machine.needed}, which a machine elsewhere may not have")
            called = {symbol: machines[callee] for symbol, callee in machine.called.items()}
            names = [f"{entry}.{i}.o" for i in range(len(machine.objects))]
            for name, each in zip(names, machine.objects, strict=True):
                file.writestr(zipfile.ZipInfo(name, STAMP), each, zipfile.ZIP_DEFLATED, 9)
            index.append(
                {
                    "kernel": kernel.name,
                    "digest": shipped.digest_of(kernel),
                    "parameters": machine.parameters,
                    "result": machine.result,
                    "called": {symbol: [its.name, code.parameters] for symbol, (its, code) in called.items()},
                    "native": machine.native,
                    "release": machine.release,
                    "objects": names,
                }
            )
        text = json.dumps(index, indent=1)
        file.writestr(zipfile.ZipInfo(shipped.INDEX, STAMP), text, zipfile.ZIP_DEFLATED, 9)
    return len(index)


def _machines(folder: Path) -> Iterator[tuple[str, tuple[Kernel, Machine]]]:
    """The machine code in a folder by the names of its entries, with the kernel it is of."""
    for path in folder.glob("*" + ENDING):
        machine = Machine(*pickle.loads(read_entry(path) or b""))
        for kernel in Kernel.kernels:
            if entry_of(kernel, machine.parameters) == machine.entry:
                yield machine.entry, (kernel, machine)


def main() -> None:
    """Make the pack."""
    preparing.nothing_to_compile()  # has every module with kernels loaded, the simulated table's too
    with tempfile.TemporaryDirectory() as folder:
        compiled(Path(folder), "--all" in sys.argv[1:])
        count = packed(Path(folder), shipped.PACK)
    print(f"{shipped.PACK.name}: {count} kernels, {shipped.PACK.stat().st_size} bytes")


if __name__ == "__main__":
    main()
