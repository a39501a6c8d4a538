"""Pages and cells of what is exported: self-contained HTML, and text that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Iterable, Sequence

STYLE = """body{font:14px/1.4 sans-serif;margin:2em;color:#111}table{border-collapse:collapse;margin:1em 0}
td,th{border:1px solid #999;padding:.25em .6em;text-align:left}
.sim{background:#b00;color:#fff;padding:.3em .6em}"""
SHEET_STYLE = """@page{size:A4;margin:12mm}body{font:10pt sans-serif;color:#000;margin:0 auto;max-width:186mm}
table{border-collapse:collapse;width:100%;margin:4mm 0}td,th{border:.3mm solid #555;padding:1mm 2mm;
height:5mm;text-align:left}tr{break-inside:avoid}
.sign td{border:0;border-bottom:.2mm dotted #555;padding-top:5mm}
.sim{border:1mm solid #b00;color:#b00;padding:1mm;font-weight:bold}small{overflow-wrap:anywhere}"""


def inert(cell: object) -> object:
    """The cell, quoted where a spreadsheet would take it for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell


def csv_text(head: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A head and rows; cells that a spreadsheet would take for a formula are quoted."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([inert(cell) for cell in row] for row in (head, *rows))
    return out.getvalue()


def opening(title: str, simulated: bool, result: str) -> list[str]:
    """How a page begins: its title, whether what it tells was simulated, and the result."""
    parts = [f"<h1>{html.escape(title)}</h1>", *(['<p class="sim">SIMULATED</p>'] if simulated else [])]
    return [*parts, f"<p>{html.escape(result)}</p>"]


def signatures(names: Iterable[str]) -> str:
    """A line to sign for each name."""
    signs = "".join(f"<tr><td>{html.escape(name)}</td><td>signed</td></tr>" for name in names)
    return f'<table class="sign">{signs}</table>'


def page(title: str, style: str, parts: Sequence[str]) -> str:
    """One HTML page of these parts."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{style}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """An HTML table."""
    cells = "".join(f"<th>{html.escape(str(c).replace('_', ' '))}</th>" for c in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(c))}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><tr>{cells}</tr>{body}</table>"
