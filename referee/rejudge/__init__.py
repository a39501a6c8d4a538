"""Judge recorded attempts again: with today's vision, another palette, another deck, other house rules.

``options`` says how, ``again`` judges one attempt, ``run`` an archive (both cores, or a Dask cluster;
interrupted, it goes on), ``report`` says what would change, ``keep`` turns a disputed call into a regression
test. Nothing recorded is altered by any of them.
"""

from __future__ import annotations

from referee.rejudge.again import judge_again
from referee.rejudge.options import EYE, Options
from referee.rejudge.report import write_report
from referee.rejudge.run import Interrupted, rejudge

__all__ = ["EYE", "Interrupted", "Options", "judge_again", "rejudge", "write_report"]
