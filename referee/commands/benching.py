"""What ``referee bench`` does: loads vision, which its help does without."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import click

from referee.benchmark import report
from referee.benchmark.consistency import Consistency, consistency_lines, run_consistency
from referee.benchmark.fit import (
    guarantee_text,
    leave_sessions_out,
    lessons_of,
    pack_lessons,
    session_of,
    trust_file,
    unpack_lessons,
    with_trust,
)
from referee.benchmark.run import Knowledge, jobs, run_all, sessions
from referee.benchmark.scoring import ZoneScore
from referee.benchmark.stress import (
    EFFECTS,
    Row,
    StressJob,
    StressScore,
    effect_names,
    run_stress,
    stress_jobs,
    stress_rows,
)
from referee.commands.bench_options import BenchOptions
from referee.commands.progress import Bar
from referee.vision.verdict.trust import FILE as TRUST_FILE
from referee.vision.verdict.trust import load_trust


def bench(wanted: BenchOptions) -> None:
    """Judge the sessions' frames as asked for, and print how that compares with their truth."""
    found = sessions(wanted.folders)
    if (wanted.leave_one_out or wanted.fit) and len(found) < 3:
        raise click.UsageError("at least three sessions are needed: one to rule, two halves of others to learn from")
    if wanted.consistency:
        rows = list(_worked(found, wanted, Consistency, run_consistency))
        click.echo(json.dumps([asdict(row) for row in rows]) if wanted.as_json else "\n".join(consistency_lines(rows)))
    elif wanted.fit:
        _fit(_stressed(found, wanted), wanted)
    elif wanted.stress:
        _show_stress(_stressed(found, wanted), wanted, found)
    elif wanted.aids:
        _show_aids(found, wanted)
    else:
        _show_verdicts(found, wanted)


def rig_knowledge(wanted: BenchOptions) -> Knowledge:
    """What the observer is given of a rig."""
    return Knowledge(not wanted.no_empty, not wanted.no_colors, not wanted.no_camera, not wanted.one_camera)


def _show_verdicts(found: Sequence[Path], wanted: BenchOptions) -> None:
    """The verdicts on the frames as they are."""
    work = jobs(found, rig_knowledge(wanted), wanted.every)
    rows = [row for seen in _watched(run_all(work, wanted.processes), len(work)) for row in seen]
    if wanted.as_json:
        return click.echo(json.dumps([asdict(row) | {"outcome": row.outcome} for row in rows]))
    if wanted.doubts:
        return click.echo("\n".join(report.doubt_lines(_by_set(rows, found))))
    rows.sort(key=lambda r: (r.image, r.zone))
    if wanted.leave_one_out:
        held_out = _left_out(rows, wanted)
        click.echo("\n".join(report.left_out_lines(held_out)) + "\n")
        rows = [row for _, scores in held_out.values() for row in scores]
    parts = [report.outcome_lines, report.time_lines, *([report.step_lines] if wanted.steps else [])]
    parts += [report.confusion_lines, report.reliability_lines, report.wrong_lines]
    return click.echo("\n\n".join("\n".join(part(rows)) for part in parts))


def _by_set(scores: Sequence[ZoneScore], found: Sequence[Path]) -> dict[str, list[ZoneScore]]:
    """The scores by the folder that their session lies in."""
    sets = {folder.name: folder.resolve().parent.name for folder in found}
    return {name: [s for s in scores if sets[session_of(s)] == name] for name in dict.fromkeys(sets.values())}


def _stressed(found: Sequence[Path], wanted: BenchOptions) -> list[StressScore]:
    return list(_worked(found, wanted, StressScore, run_stress))


def _worked(
    found: Sequence[Path], wanted: BenchOptions, kind: type[Row], do: Callable[[StressJob], list[Row]]
) -> Iterable[Row]:
    """What ``do`` makes of every picture; of pictures as they are where nothing is drawn upon them."""
    try:
        effects = effect_names(wanted.effects) if wanted.stress or wanted.fit else ["clean"]
    except KeyError as name:
        raise click.UsageError(f"--effects: {name} is none of {', '.join(EFFECTS)}") from None
    work = [
        job
        for seed in wanted.seed
        for job in stress_jobs(found, effects, wanted.every, seed, wanted.pictures, rig_knowledge(wanted))
    ]
    return _watched(stress_rows(work, wanted.processes, kind, do, wanted.rows), len(work))


def _show_stress(rows: list[StressScore], wanted: BenchOptions, found: Sequence[Path]) -> None:
    """Table by effect and level, reliability, and what went wrong."""
    if wanted.as_json:
        return click.echo(json.dumps([asdict(row) | {"outcome": row.outcome} for row in rows]))
    if wanted.doubts:
        return click.echo("\n".join(report.doubt_lines(_by_set([row.score for row in rows], found))))
    rows = sorted(rows, key=lambda r: (r.score.image, r.score.zone))
    if wanted.leave_one_out or wanted.fit:
        held_out = _left_out([row.score for row in rows], wanted)
        click.echo("\n".join(report.left_out_lines(held_out)) + "\n")
        trusts = {session: trusts for session, (trusts, _) in held_out.items()}  # each ruled by what the others teach
        rows = [replace(row, score=with_trust(row.score, trusts[session_of(row.score)])) for row in rows]
    told = report.trust_lines([row.score for row in rows if not row.crash])
    parts = (report.stress_lines(rows), told, report.stress_wrong_lines(rows))
    return click.echo("\n\n".join("\n".join(part) for part in parts))


def _left_out(scores: Sequence[ZoneScore], wanted: BenchOptions) -> dict:
    try:
        lessons = unpack_lessons(wanted.lessons) if wanted.lessons and not wanted.fit else None
        return leave_sessions_out(scores, lessons=lessons)
    except ValueError as fault:
        raise click.UsageError(str(fault)) from None


def _fit(rows: list[StressScore], wanted: BenchOptions) -> None:
    """Say how a fit to the rows does on sessions left out, and write the fit and what it was made of."""
    _show_stress(rows, wanted, sessions(wanted.folders))
    learnt = lessons_of([row.score for row in rows])
    names = " ".join(folder.name for folder in wanted.folders)
    seeds = " ".join(f"--seed {seed}" for seed in wanted.seed)
    command = f"referee bench {names} --fit --every {wanted.every} {seeds}"
    trust = wanted.trust or TRUST_FILE
    trust.write_text(trust_file(learnt, command), encoding="utf-8")
    if wanted.lessons:
        wanted.lessons.write_bytes(pack_lessons(learnt))
    click.echo(f"\n{guarantee_text(load_trust(trust))}\nwritten: {trust}")


def _show_aids(folders: Sequence[Path], wanted: BenchOptions) -> None:
    """Every combination of what may be given beside the picture, one line each."""
    found: dict[tuple[bool, bool, bool], list[ZoneScore]] = {}
    sides = (True, False)
    for given in ((a, b, c) for a in sides for b in sides for c in sides):
        work = jobs(folders, Knowledge(*given), every=wanted.every)
        found[given] = [row for seen in _watched(run_all(work, wanted.processes), len(work)) for row in seen]
    if wanted.as_json:
        return click.echo(json.dumps([[given, [asdict(row) for row in rows]] for given, rows in found.items()]))
    return click.echo("\n".join(report.aids_lines(found)))


def _watched(found: Iterable, count: int) -> Bar:
    return Bar(found, total=count, unit="image", leave=False)
