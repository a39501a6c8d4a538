"""``referee bench``: the observer held against sessions with truth; what was right, wrong, undecided."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby, pairwise
from pathlib import Path

import click
import numpy as np
from scipy.stats import binomtest
from tqdm import tqdm

from referee.vision.benching import Accepted, Job, Knowledge, jobs, run_all, sessions
from referee.vision.left_out import left_out
from referee.vision.scoring import NOTHING, ZoneScore, tally

OUTCOMES = ("right", "false accept", "false reject", "undecided")
BINS = (0.5, 0.8, 0.85, 0.9, 0.95, 0.98, 1.0)
SCALES = (1.0, 1.25, 1.5)
"""Sides of 720p pictures for --scaling: 0.9, 1.4 and 2.1 megapixels."""


class _Bar(tqdm):
    """A progress bar without tqdm's watching thread: it would outlive the command."""

    monitor_interval = 0


@click.command()
@click.argument(
    "folders", nargs=-1, required=True, metavar="DIR…", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option("--no-empty", is_flag=True, help="Without the empty frame.")
@click.option("--no-colors", is_flag=True, help="Without the colours frame.")
@click.option("--no-camera", is_flag=True, help="Without the lens file.")
@click.option("--wrong-cards", is_flag=True, help="Judge every build against the deck's other cards instead.")
@click.option("--steps", is_flag=True, help="Score each step of seeing on its own too.")
@click.option("--leave-one-out", is_flag=True, help="Rule each session by the trust in margins that the others teach.")
@click.option("--scaling", is_flag=True, help="Cost against pieces and pixels instead (one process).")
@click.option("--every", type=click.IntRange(min=1), default=1, help="Only every so manieth frame.")
@click.option("--processes", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="All scores as one JSON object.")
def bench(
    folders: tuple[Path, ...],
    no_empty: bool,
    no_colors: bool,
    no_camera: bool,
    wrong_cards: bool,
    steps: bool,
    leave_one_out: bool,
    scaling: bool,
    every: int,
    processes: int,
    as_json: bool,
) -> None:
    """Judge every frame of the session folders DIR… (or of those in them) and hold it against its truth."""
    knowledge = Knowledge(not no_empty, not no_colors, not no_camera)
    found = sessions(folders)
    if leave_one_out and len(found) < 2:
        raise click.UsageError("--leave-one-out needs at least two sessions: one to rule, others to learn from")
    work = jobs(found, knowledge, wrong_cards, every)
    if scaling:
        return _show_scaling(work, as_json)
    rows = [row for seen in _watched(run_all(work, processes), len(work)) for row in seen]
    if as_json:
        return click.echo(json.dumps([asdict(row) | ({} if wrong_cards else {"outcome": row.outcome}) for row in rows]))
    if wrong_cards:
        return click.echo("\n".join(wrong_card_lines(rows)))
    rows.sort(key=lambda r: (r.image, r.zone))
    if leave_one_out:
        held_out = left_out(rows)
        click.echo("\n".join(left_out_lines(held_out)) + "\n")
        rows = [row for _, scores in held_out.values() for row in scores]
    parts = [
        outcome_lines,
        time_lines,
        *([step_lines] if steps else []),
        confusion_lines,
        reliability_lines,
        wrong_lines,
    ]
    click.echo("\n\n".join("\n".join(part(rows)) for part in parts))
    return None


def _watched(found: Iterable, count: int) -> tqdm:
    return _Bar(found, total=count, unit="image", file=sys.stderr, disable=not sys.stderr.isatty(), leave=False)


def share(k: int, n: int) -> str:
    """k of n with its 95 % Wilson interval."""
    if not n:
        return "-"
    interval = binomtest(k, n).proportion_ci(0.95, "wilson")
    return f"{100 * k / n:5.1f} % [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def outcome_lines(rows: Sequence[ZoneScore]) -> list[str]:
    """Right, false accepts, false rejects, undecided; per kind of card and in all."""
    out = [f"{'verdicts':12} {'n':>4}  " + "".join(f"{name:>24}" for name in OUTCOMES)]
    kinds = sorted({r.kind for r in rows})
    for kind in [*kinds, "all"]:
        mine = [r for r in rows if kind in (r.kind, "all")]
        counts = tally(mine)
        cells = "".join(f"{share(counts[o], len(mine)):>24}" for o in OUTCOMES)
        out.append(f"{kind:12} {len(mine):4}  {cells}")
    decided = [r for r in rows if r.outcome != "undecided"]
    out.append(f"right among decided: {share(tally(decided)['right'], len(decided))}")
    return out


def left_out_lines(held_out: Mapping[str, tuple[float, Sequence[ZoneScore]]]) -> list[str]:
    """Each session ruled by what the others taught."""
    wide = max(map(len, held_out))
    out = [f"{'session left out':{wide}} {'nats':>5} {'n':>4} " + "".join(f"{name:>14}" for name in OUTCOMES)]
    for session, (scale, scores) in held_out.items():
        counts = tally(scores)
        out.append(f"{session:{wide}} {scale:5.0f} {len(scores):4} " + "".join(f"{counts[o]:>14}" for o in OUTCOMES))
    return out


def time_lines(rows: Sequence[ZoneScore]) -> list[str]:
    """Seconds per image, median and 95th percentile."""
    seconds = list({r.image: r.seconds for r in rows}.values())
    mats = list({r.image: r.mats_seconds for r in rows}.values())
    return [
        f"seconds per image: median {np.median(seconds):.2f}, p95 {np.percentile(seconds, 95):.2f} "
        f"({len(seconds)} images); of it locating mats: median {np.median(mats):.3f}"
    ]


def step_lines(rows: Sequence[ZoneScore]) -> list[str]:
    """Each step of seeing on its own: mats, labels, pieces, contacts, verdict."""
    seen = [r for r in rows if r.ruling is not None]
    pixels = sum(r.label_pixels for r in seen)
    errors = [r.pose_px for r in seen]
    labels = 100 * sum(r.labels_right for r in seen) / pixels if pixels else 0.0
    pieces, found = sum(r.count for r in rows), sum(r.pieces_right for r in rows)
    return [
        "steps",
        f"  mats located       {share(len(seen), len(rows))}, corners off by "
        f"{np.median(errors) if errors else 0:.2f} px (median RMS)",
        f"  labels             {labels:5.1f} % of {pixels} pixels of builds carry the right colour",
        f"  pieces             {share(found, pieces)} of {pieces}: shape, colour, pose, 6 mm in x and z",
        f"  ground contacts    {share(sum(r.contacts_right for r in rows), len(rows))} of builds exact",
        f"  verdict            {share(tally(rows)['right'], len(rows))} right",
    ]


def confusion_lines(rows: Sequence[ZoneScore]) -> list[str]:
    """Which pieces were taken for which."""
    pairs = Counter(pair for r in rows for pair in r.confusions)
    true = [*sorted({a for a, _ in pairs} - {NOTHING}), NOTHING]
    seen = [*sorted({b for _, b in pairs} - {NOTHING}), NOTHING]
    wide = max(map(len, true))
    out = [
        "pieces: truth down, seen across " + ", ".join(f"{k + 1} {name}" for k, name in enumerate(seen)),
        " " * wide + "".join(f"{k + 1:>5}" for k in range(len(seen))),
    ]
    for a in true:
        out.append(f"{a:{wide}}" + "".join(f"{pairs[a, b] or '.':>5}" for b in seen))
    return out


def reliability_lines(rows: Sequence[ZoneScore]) -> list[str]:
    """Of verdicts given with a confidence, how many were right."""
    out = [f"reliability  {'confidence':>12} {'n':>5} {'mean':>7} {'right':>24}"]
    decided = [r for r in rows if r.outcome != "undecided"]
    for low, high in pairwise(BINS):
        mine = [r for r in decided if low <= r.confidence < high or (high == 1.0 and r.confidence == 1.0)]
        if mine:
            mean = np.mean([r.confidence for r in mine])
            out.append(
                f"{'':11}  {low:5.2f} - {high:4.2f} {len(mine):5} {mean:7.3f} "
                f"{share(tally(mine)['right'], len(mine)):>24}"
            )
    return out


def wrong_lines(rows: Sequence[ZoneScore]) -> list[str]:
    """The frames that were judged wrong, then those undecided, with the reasons given."""
    bad = sorted((r for r in rows if r.outcome != "right"), key=lambda r: (r.outcome == "undecided", r.image))
    if not bad:
        return ["every verdict is right"]
    return ["not right"] + [
        f"  {r.image} {r.zone} card {r.card}: {r.outcome}, truth {r.expected}{r.why and f' ({r.why})'}, "
        f"confidence {r.confidence:.2f}: {'; '.join(r.reasons) or 'no fault seen'}"
        for r in bad
    ]


def wrong_card_lines(rows: Sequence[Accepted]) -> list[str]:
    """How often a build was accepted for a card that it does not show."""
    wrong = [r for r in rows if r.truly_wrong]
    accepted = [r for r in wrong if r.ruling == "match"]
    rejected = sum(r.ruling == "mismatch" for r in wrong)
    out = [
        f"builds held against other cards: {len(wrong)}; accepted {share(len(accepted), len(wrong))}, "
        f"rejected {share(rejected, len(wrong))}"
    ]
    return out + [f"  {r.image} {r.zone} accepted for card {r.card}" for r in accepted]


def _show_scaling(work: Sequence[Job], as_json: bool) -> None:
    """Seconds by count of pieces (at the pictures' own size) and by pixels."""
    timed = []
    for scale in SCALES:
        some = work if scale == 1.0 else work[::3]
        batch = [Job(j.folder, j.index, j.knowledge, None, scale) for j in some]
        for found in _watched(run_all(batch, 1), len(batch)):
            timed.append({"scale": scale, "seconds": found[0].seconds, "pieces": max(r.count for r in found)})
    if as_json:
        return click.echo(json.dumps(timed))
    own_size = [t for t in timed if t["scale"] == 1.0]
    lines = _medians("most pieces in a field", own_size, lambda t: t["pieces"])
    lines += _medians("times 720p's pixels", timed, lambda t: round(t["scale"] ** 2, 2))
    return click.echo("\n".join(lines))


def _medians(name: str, timed: list[dict], key: Callable[[dict], float]) -> list[str]:
    out = [f"{name:>24} {'images':>7} {'median s':>9} {'slowest':>8}"]
    for value, group in groupby(sorted(timed, key=key), key):
        seconds = [t["seconds"] for t in group]
        out.append(f"{value:>24} {len(seconds):>7} {np.median(seconds):>9.2f} {max(seconds):>8.2f}")
    return out
