"""The kernels' 2,000 placements on processors that are not here: the same bits on an x86-64 without AVX and on ARM.

    python tests/kernels/emulated.py FOLDER        an empty folder, 1.2 GB; Debian 12, its Python 3.11, qemu-user

QEMU runs ``placements.py`` with the lowest versions of pyproject.toml (newer wheels of numpy need a newer x86-64): on
the first x86-64 with the modules that lie here, on aarch64 with Debian's Python and modules that Zig cross-compiles.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACEMENTS = ROOT / "tests/kernels/placements.py"
NEEDED = ["numpy", "opencv-python", "pydantic", "pyyaml", "scipy", "scikit-image"]
LIBRARIES = ["libc6", "libgcc-s1", "libstdc++6", "zlib1g", "libexpat1", "libffi8", "libssl3", "libbz2-1.0", "liblzma5"]
PYTHON = ["python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib", "libuuid1", "libcrypt1"]
ARM_SUFFIX = ".cpython-311-aarch64-linux-gnu.so"


def run(*command: str | Path, cwd: Path = ROOT, **more: str) -> str:
    """Run a command with ``more`` in its environment; what it prints."""
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, **more}, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def lowest() -> list[str]:
    """The lowest versions of the packages that the placements need; OpenCV without windows, which needs no X11."""
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    named = {re.split(r"[>\[;]", line)[0].strip().lower(): line for line in dependencies}
    return [named[name].replace(">=", "==").replace("python=", "python-headless=") + ".*" for name in NEEDED]


def install(target: Path, *options: str) -> None:
    """Install packages into a folder, of wheels alone."""
    run(sys.executable, "-m", "pip", "install", "-q", "--only-binary=:all:", "--target", target, *options)


def arm_python(folder: Path) -> Path:
    """Debian's Python for aarch64, unpacked; the root that QEMU looks for libraries in."""
    root, state = folder / "root", folder / "apt"
    (state / "lists/partial").mkdir(parents=True)
    (state / "cache/archives/partial").mkdir(parents=True)
    own = [f"-oDir::State={state}", f"-oDir::Cache={state}/cache", "-oDir::State::status=/dev/null"]
    apt = ["apt-get", "-qq", *own, "-oAPT::Architecture=arm64", "-oAPT::Architectures=arm64"]
    run(*apt, "update")
    run(*apt, "download", *LIBRARIES, *PYTHON, cwd=state)
    for package in sorted(state.glob("*.deb")):
        run("dpkg", "-x", package, root)
    return root


def arm_kernels(folder: Path) -> None:
    """The program for aarch64, its modules compiled by Zig."""
    c, cxx = (f"{folder}/zig/ziglang/zig {which} -target aarch64-linux-gnu.2.28" for which in ("cc", "c++"))
    build = {"CC": c, "LDSHARED": f"{c} -shared", "CXX": cxx}
    wheel = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", folder, ROOT]
    run(*wheel, **build, SETUPTOOLS_EXT_SUFFIX=ARM_SUFFIX, _PYTHON_HOST_PLATFORM="linux-aarch64")
    (built,) = folder.glob("referee-*.whl")
    run(sys.executable, "-m", "zipfile", "-e", built, folder / "arm")


def main(folder: Path) -> None:
    """Print what each processor gives; 1 where the bits differ."""
    install(folder / "zig", "ziglang")
    install(folder / "x86", *lowest())
    arm = [f"--platform=manylinux{tag}_aarch64" for tag in ("2014", "_2_17", "_2_28")]
    install(folder / "arm", *arm, "--python-version=3.11", *lowest())
    arm_kernels(folder)
    root = arm_python(folder)
    said = {
        "here": run(sys.executable, PLACEMENTS),
        "x86-64 v1": run(
            "qemu-x86_64", "-cpu", "qemu64", sys.executable, PLACEMENTS, PYTHONPATH=f"{folder}/x86:{ROOT}"
        ),
        "aarch64": run(
            "qemu-aarch64", "-L", root, root / "usr/bin/python3.11", PLACEMENTS, PYTHONPATH=str(folder / "arm")
        ),
    }
    bits = {machine: json.loads(line) for machine, line in said.items()}
    for machine, given in bits.items():
        print(f"{machine:10} {given['bits']}  {Path(given['modules'][0]).name} of {Path(given['modules'][0]).parent}")
    sys.exit(len({given["bits"] for given in bits.values()}) > 1)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
