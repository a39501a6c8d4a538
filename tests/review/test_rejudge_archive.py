"""An archive judged again by the real vision: nothing twice, what was seeded is found, and nothing else.

``bench_rejudge.py`` does the same to 500 attempts and prints rates; here they are few.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from bench_rejudge import measure

COUNT, SAMPLE = 20, 6


@pytest.mark.slow
def test_a_killed_archive_is_resumed_and_reports_what_was_seeded(tmp_path, capsys):
    found = measure(tmp_path, COUNT, SAMPLE)
    assert COUNT // 2 <= found.killed_at < COUNT
    assert sorted(found.results) == [f"B-{n:03d}" for n in range(COUNT)]
    assert found.changed == found.seeded == ["B-008"]
    assert found.rules_changed == len(found.seeded)
    with capsys.disabled():
        print(f"\n{COUNT} attempts: {found.two_cores_hz / found.one_core_hz:.2f} times one core's rate")
