"""A match as the match's own tests play it, and a real PostgreSQL server."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_SPEC = importlib.util.spec_from_file_location("match_conftest", Path(__file__).parents[1] / "match" / "conftest.py")
_MATCH = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MATCH)

table, postgres, store = _MATCH.table, _MATCH.postgres, _MATCH.store
