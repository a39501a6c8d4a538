"""The map in CONTRIBUTING.md, drawn from the import contract; and its recipe, taken step by step on a tree.

python tests/contributing.py        draws the map anew
"""

from __future__ import annotations

import ast
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GUIDE = Path(".github/CONTRIBUTING.md")
MAP = re.compile(r"(?<=<!-- map -->\n).*?(?=<!-- end of map -->)", re.DOTALL)
STEP = re.compile(r"In\s(?:the new file\s)?`([^`]+)`(?:,\sbefore `([^`]+)`)?:\n\n```\w*\n(.*?)```", re.DOTALL)


def drawn(root: Path = ROOT) -> str:
    """The floors of the contract, top to bottom, each package with the first line of its docstring."""
    contracts = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    rows = ["| floor | package | what it is |", "|---|---|---|"]
    floors = [layer for c in contracts if c.get("containers") == ["referee"] for layer in c["layers"]]
    named = [[f"referee/{name.strip()}" for name in layer.split("|")] for layer in floors]
    named += [[name] for c in contracts if "containers" not in c and c["type"] == "layers" for name in c["layers"][1:]]
    for floor, names in zip(range(len(named), 0, -1), named, strict=True):
        rows += [f"| {floor} | `{name}` | {first_line(root / name)} |" for name in names]
    return "\n".join(["", *rows, "", ""])


def first_line(path: Path) -> str:
    """The first sentence of a package's or module's docstring."""
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].partition(". ")[0].rstrip(".")


@dataclass(frozen=True)
class Step:
    """``code`` goes into ``file`` before the one line that begins with ``line``; without a line it is a new file."""

    file: str
    line: str
    code: str

    def take(self, root: Path) -> None:
        """Change the file below ``root``. Raises ValueError unless just one line begins so."""
        path = root / self.file
        if not self.line:
            path.write_text(self.code, encoding="utf-8")
            return
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        at = [n for n, text in enumerate(lines) if text.lstrip().startswith(self.line)]
        if len(at) != 1:
            raise ValueError(f"{self.file}: {len(at)} lines begin with {self.line!r}")
        lines.insert(at[0], self.code)
        path.write_text("".join(lines), encoding="utf-8")


def steps(guide: str) -> list[Step]:
    """The recipe's steps in the order of the guide."""
    return [Step(*found) for found in STEP.findall(guide)]


def main() -> None:
    """Draw the map anew."""
    path = ROOT / GUIDE
    path.write_text(MAP.sub(lambda _: drawn(), path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
