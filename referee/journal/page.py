"""Pages and cells of what is exported: self-contained HTML, and text that no spreadsheet takes for a formula."""

import csv
import html
import io
from collections.abc import Iterable, Sequence
from importlib.resources import files

from jinja2 import Environment

Table = tuple[Sequence[str], Sequence[Sequence[object]]]
"""A head and rows."""


def csv_text(head: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A head and rows; cells that a spreadsheet would take for a formula are quoted."""
    out = io.StringIO()
    formula = ("=", "+", "-", "@", "\t", "\r")
    inert = ([f"'{c}" if isinstance(c, str) and c.startswith(formula) else c for c in row] for row in (head, *rows))
    csv.writer(out, lineterminator="\n").writerows(inert)
    return out.getvalue()


def page(title: str, result: str, tables: Iterable[Table], last: str, **more: object) -> str:
    """One HTML page: its ``title``, the ``result``, the tables, and the ``last`` words.

    ``more``: the ``heading`` where it is not the title; whether it was ``simulated``; the ``names`` of who are to sign
    it: then it is a sheet to print.
    """
    template = Environment(finalize=lambda value: html.escape(str(value))).from_string(
        files("referee.journal").joinpath("page.html").read_text(encoding="utf-8")
    )
    return template.render(title=title, result=result, tables=list(tables), last=last, **more) + "\n"
