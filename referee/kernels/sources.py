"""What the kernels are made of, and whether those that run were made of it."""

from __future__ import annotations

import hashlib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "referee.kernels"
REMEDY = "run: pip install -e ."
"""What mends it."""

AVX2_MODULES = ("outlines", "rasterizer")
"""The hottest modules: on Linux on x86-64 they are built once more, into ``avx2``, for processors that have AVX2."""


def compiled(folder: Path) -> list[Path]:
    """The modules that are compiled."""
    return sorted(path for path in folder.glob("*.py") if path.stem not in ("__init__", "sources"))


def digest(folder: Path) -> int:
    """A number for the sources of all modules, the same for the same sources."""
    sources = [*compiled(folder), *sorted(folder.glob("*.pxd")), *sorted(folder.glob("*.h"))]
    text = b"".join(path.name.encode() + b"\n" + path.read_bytes() for path in sources)
    return int.from_bytes(hashlib.sha256(text).digest()[:7], "big")


def check(folder: Path, built_from: int | None) -> None:
    """Raise ImportError, in one line, unless the kernels are built (None: not) and of the sources in the folder."""
    if built_from is None:
        raise ImportError(f"the compiled loops in {folder} are not built here; {REMEDY}", name=PACKAGE)
    if digest(folder) != built_from:
        raise ImportError(f"the compiled loops in {folder} have changed since they were built; {REMEDY}", name=PACKAGE)


def built_from() -> int | None:
    """``digest`` of the sources that the compiled modules were made of, 0 of several; None where they are not built."""
    spec = find_spec(f"{PACKAGE}.scene")
    if spec is None or spec.origin is None or spec.origin.endswith(".py"):
        return None
    built = {int(import_module(f"{PACKAGE}.{name}").BUILT_FROM) for name in ("scene", *AVX2_MODULES)}
    return built.pop() if len(built) == 1 else 0
