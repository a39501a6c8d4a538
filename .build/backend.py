"""How referee is built: setuptools, and the compiled ``referee/kernels`` by the machine's own C and C++ compilers.

Where there are none, PyPI's: Zig, a wheel that is fetched only then. Nothing is written beside the sources but, for an
editable install, the compiled modules.
"""

import os
import runpy
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import setuptools
from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

KERNELS = Path("referee", "kernels")
FIRMWARE = Path("firmware", "button_box")
MEMORYVIEWS = "referee.kernels.memoryviews"
"""A module of Cython's own code for typed arrays, which each module that takes some would hold again."""
ZIG = "ziglang>=0.13"
ADVICE = "install a C and C++ compiler (gcc and g++, clang, or Visual Studio's Build Tools) and try again"
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


def _own_compiler(variable, *usual):
    """The machine's compiler; on Windows setuptools looks for it itself."""
    named = (os.environ.get(variable) or sysconfig.get_config_var(variable) or usual[0]).split()[0]
    return "cl" if os.name == "nt" else next(filter(shutil.which, (named, *usual)), None)


def _own_compilers():
    """For C and for C++; None where one of them is missing."""
    own = {"CC": _own_compiler("CC", "cc", "gcc", "clang"), "CXX": _own_compiler("CXX", "c++", "g++", "clang++")}
    return own if all(own.values()) else None


def _choose_compilers():
    own, zig = _own_compilers(), f"{shlex.quote(sys.executable)} -m ziglang"
    if own is None:
        c, cxx = (f"{zig} {which} -mcpu=baseline" for which in ("cc", "c++"))
        os.environ.update(CC=c, CXX=cxx, LDSHARED=f"{c} -shared -fno-sanitize=undefined")  # its library takes 3 s
    elif os.name != "nt":
        for variable, compiler in own.items():
            os.environ.setdefault(variable, compiler)


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
    (box,) = [module for module in modules if module.name.endswith("button_box")]
    box.language, box.include_dirs = "c++", [*box.include_dirs, str(FIRMWARE)]
    directives = {**DIRECTIVES, "cdivision": True, "infer_types": True, "language_level": 3}
    modules.append(setuptools.Extension(MEMORYVIEWS, [], **build))
    modules = cythonize(
        modules, build_dir=scratch, compiler_directives=directives, shared_utility_qualified_name=MEMORYVIEWS
    )
    for module in modules:
        module.language = "c"  # for the linker: the firmware needs no library of C++, which Zig would build first
    if sysconfig.get_platform() != "linux-x86_64":
        return modules
    KERNELS.joinpath("avx2").mkdir(exist_ok=True)
    build["extra_compile_args"] = [*GCC_FLAGS, "-mavx2"]
    again = [m for m in modules if m.name.endswith(sources["AVX2_MODULES"])]
    return modules + [
        setuptools.Extension(m.name.replace("kernels", "kernels.avx2"), [_copied(m.sources[0], scratch)], **build)
        for m in again
    ]


def _copied(source, scratch):
    """A copy of a source, whose object file is another while both are compiled at a time."""
    folder = Path(scratch, "avx2")
    folder.mkdir(exist_ok=True)
    return shutil.copy(source, folder)


def _commit():
    """``+g`` and the commit that a wheel is built from, as a version's local part; '' outside a checkout."""
    try:
        git = ["git", "describe", "--always", "--exclude=*", "--dirty=.dirty"]
        done = subprocess.run(git, capture_output=True, text=True) if Path(".git").exists() else None
    except OSError:
        done = None
    return f"+g{done.stdout.strip()}" if done and done.returncode == 0 else ""


class _Backend(build_meta._BuildMetaBackend):
    def local_version(self):
        return ""

    def run_setup(self, setup_script="setup.py"):
        named = {"egg_info": {"tag_build": self.local_version()}}
        if not {"bdist_wheel", "editable_wheel"} & set(sys.argv):
            return setuptools.setup(options=named)
        _choose_compilers()
        with tempfile.TemporaryDirectory() as scratch:
            try:
                named |= {"build": {"build_base": scratch}, "build_ext": {"parallel": os.cpu_count()}}
                setuptools.setup(ext_modules=_extensions(scratch), options=named)
            except (SystemExit, Exception) as error:
                raise SystemExit(f"referee's compiled loops were not built ({error}): {ADVICE}") from error


class _WheelBackend(_Backend):
    def local_version(self):
        return _commit()


_backend, _wheels = _Backend(), _WheelBackend()
build_editable, build_sdist = _backend.build_editable, _backend.build_sdist
build_wheel, prepare_metadata_for_build_wheel = _wheels.build_wheel, _wheels.prepare_metadata_for_build_wheel


def get_requires_for_build_wheel(config_settings=None):
    """Zig, where the machine lacks a compiler."""
    return [] if _own_compilers() else [ZIG]


get_requires_for_build_editable = get_requires_for_build_wheel
