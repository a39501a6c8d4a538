"""How referee is built: setuptools, and the compiled loops of ``referee/kernels`` by the machine's own C compiler.

Where there is none, PyPI's: Zig, a wheel that is fetched only then. Nothing is written beside the sources but, for an
editable install, the compiled modules.
"""

import os
import runpy
import shlex
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

import setuptools
from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

KERNELS = Path("referee", "kernels")
ZIG = "ziglang>=0.13"
ADVICE = "install a C compiler (gcc, clang, or Visual Studio's Build Tools) and try again"
GCC_FLAGS = [
    "-O3",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-finline-limit=1000",
    "-g0",
    "-Wno-psabi",
    "-Wno-ignored-optimization-argument",
    "-Wno-unknown-warning-option",
]
"""``-ffp-contract=off`` fuses no multiplication with an addition: the bits are the same on every processor.
``-finline-limit`` is GCC's, which calls the helpers of the innermost loops otherwise; Clang goes without."""
DIRECTIVES = {name: False for name in ("boundscheck", "wraparound", "initializedcheck", "binding")}


def _own_compiler():
    """The machine's C compiler; on Windows setuptools looks for it itself."""
    named = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    return "cl" if os.name == "nt" else next(filter(shutil.which, (named, "cc", "gcc", "clang")), None)


def _choose_compiler():
    own, zig = _own_compiler(), f"{shlex.quote(sys.executable)} -m ziglang cc -mcpu=baseline"
    if own is None:
        os.environ.update(CC=zig, LDSHARED=f"{zig} -shared")
    elif os.name != "nt":
        os.environ.setdefault("CC", own)


def _extensions(scratch):
    from Cython.Build import cythonize

    sources = runpy.run_path(str(KERNELS / "sources.py"))
    build = {
        "include_dirs": [str(KERNELS)],
        "define_macros": [("REFEREE_SOURCES", f"{sources['digest'](KERNELS)}LL")],
        "extra_compile_args": ["/O2", "/fp:precise"] if os.name == "nt" else GCC_FLAGS,
        "extra_link_args": ["-s"] if sys.platform == "linux" else [],
    }
    modules = [
        setuptools.Extension(f"referee.kernels.{p.stem}", [str(p)], **build) for p in sources["compiled"](KERNELS)
    ]
    directives = {**DIRECTIVES, "cdivision": True, "infer_types": True, "language_level": 3}
    modules = cythonize(modules, build_dir=scratch, compiler_directives=directives)
    if sysconfig.get_platform() != "linux-x86_64":
        return modules
    KERNELS.joinpath("avx2").mkdir(exist_ok=True)
    build["extra_compile_args"] = [*GCC_FLAGS, "-mavx2"]
    again = [m for m in modules if m.name.endswith(sources["TWICE"])]
    named = [m.name.replace("kernels", "kernels.avx2") for m in again]
    return modules + [setuptools.Extension(name, m.sources, **build) for name, m in zip(named, again, strict=True)]


class _Backend(build_meta._BuildMetaBackend):
    def run_setup(self, setup_script="setup.py"):
        if not {"bdist_wheel", "editable_wheel"} & set(sys.argv):
            return setuptools.setup()
        _choose_compiler()
        with tempfile.TemporaryDirectory() as scratch:
            try:
                setuptools.setup(ext_modules=_extensions(scratch), options={"build": {"build_base": scratch}})
            except (SystemExit, Exception) as error:
                raise SystemExit(f"referee's compiled loops were not built ({error}): {ADVICE}") from error


_backend = _Backend()
build_wheel, build_editable, build_sdist = _backend.build_wheel, _backend.build_editable, _backend.build_sdist


def get_requires_for_build_wheel(config_settings=None):
    """Zig, where the machine has no compiler."""
    return [] if _own_compiler() else [ZIG]


get_requires_for_build_editable = get_requires_for_build_wheel
