"""All public names of the program, to be read as a list: is each understood without its docstring?

    python tests/public_names.py            # packages, their modules, and the classes, functions and constants of each
    python tests/public_names.py --twice    # class names that stand in two modules

``TWICE_ALIKE`` names the classes that may stand in two modules, since they mean the same there. Exit status of
``--twice``: 1 when another does.
"""

from __future__ import annotations

import argparse
import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("referee", "calibration", "cards")
TWICE_ALIKE: frozenset[str] = frozenset()
"""Class names with one meaning in two modules."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    """(path from the root, syntax tree) of every module."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def public_names(tree: ast.Module) -> dict[str, list[str]]:
    """Kind (classes, functions, constants) -> the public names of a module, in their order; no empty kind."""
    names = defaultdict(list)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            names["classes"].append(node.name)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names["functions"].append(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = [part for target in targets for part in ast.walk(target)]
            names["constants"] += [part.id for part in parts if isinstance(part, ast.Name)]
    public = {kind: [name for name in some if not name.startswith("_")] for kind, some in names.items()}
    return {kind: public[kind] for kind in ("classes", "functions", "constants") if public.get(kind)}


def classes_twice() -> dict[str, list[str]]:
    """Class name -> the modules it stands in, of those in two or more, private and inner ones too."""
    places = defaultdict(list)
    for path, tree in modules():
        for name in sorted({node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}):
            places[name].append(path)
    return {name: places[name] for name in sorted(places) if len(places[name]) > 1}


def main() -> None:
    """The command line; see the module's head."""
    parser = argparse.ArgumentParser(description="List all public names of the program.")
    parser.add_argument("--twice", action="store_true", help="class names that stand in two modules")
    if parser.parse_args().twice:
        twice = classes_twice()
        for name, paths in twice.items():
            print(name, *paths, *["(means the same)"] * (name in TWICE_ALIKE))
        raise SystemExit(bool(twice.keys() - TWICE_ALIKE))
    folder = ""
    for path, tree in modules():
        if (package := path.rpartition("/")[0]) != folder:
            folder = package
            print(f"\n{package}/")
        names = public_names(tree)
        print(f"  {path.rpartition('/')[2]}" + "".join(f"\n    {kind}: {' '.join(names[kind])}" for kind in names))


if __name__ == "__main__":
    main()
