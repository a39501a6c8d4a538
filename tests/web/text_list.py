"""Lists every text with its key and the files that name it, so that people can read them all in ten minutes:
``python tests/web/text_list.py [WORD]`` prints key, places, English and German (only those with WORD in them)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from cards.sentences import table
from referee.web.i18n.texts import catalogue

ROOT = Path(__file__).parents[2]
SOURCES = ("referee/**/*.html", "referee/**/*.py", "referee/**/*.js", "cards/**/*.py", "calibration/**/*.py")
NAMED = re.compile(r"""["'`]([a-z_]\w*(?:\.\w+)*\.?)(?=["'`{$ ])""")
"""A text's key in a source, or how a key begins whose end is put in."""


def named() -> dict[str, set[str]]:
    """What the sources name that may be a key, or end in a dot before a key's end -> the files that do."""
    found: dict[str, set[str]] = {}
    for path in (path for pattern in SOURCES for path in ROOT.glob(pattern)):
        for match in NAMED.finditer(path.read_text(encoding="utf-8")):
            found.setdefault(match[1], set()).add(path.relative_to(ROOT).as_posix().replace("referee/", ""))
    return found


def places(key: str, sources: dict[str, set[str]]) -> set[str]:
    """The files that name a key whole or, with its last parts put in, how it begins."""
    parts = key.split(".")
    starts = [".".join(parts[:n]) + "." for n in range(1, len(parts))]
    return set().union(*(sources.get(name, set()) for name in (key, *starts)))


def rows() -> Iterator[tuple[str, str, str, str]]:
    """Key, places, English, German of each text, in the order of the keys."""
    english, german = ({**table(language), **catalogue(language)} for language in ("en", "de"))
    sources = named()
    for key in sorted(english):
        yield key, ", ".join(sorted(places(key, sources))), english[key], german[key]


if __name__ == "__main__":
    for row in rows():
        if any(word in "\n".join(row) for word in sys.argv[1:] or [""]):
            print(f"{row[0]}  ({row[1]})\n    {row[2]}\n    {row[3]}")
