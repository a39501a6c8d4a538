"""``referee prove``: the table's own figures, from builds whose truth is known because they are asked for."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import click

from referee.commands.options import option, takes_options
from referee.commands.play import TableOptions, at_table, simulated_session
from referee.errors import IllegalCommand
from referee.session.proof_tasks import TASKS
from referee.session.proving import TableProof
from referee.session.session import Session
from referee.simulator.operator import ProofBuilder
from referee.web.i18n import texts
from referee.web.pages.prove import to_mend

PAGE = "prove"


@dataclass(frozen=True, kw_only=True)
class ProveOptions(TableOptions):
    """What ``prove`` may be asked for."""

    simulated: bool = option(is_flag=True, help="At a simulated table; everything is marked SIMULATED.")
    fast: bool = option(is_flag=True, help="Simulated hands faster than any human's; ends with the proof.")
    builds: int = option(type=click.IntRange(1, TASKS), default=TASKS, help="Only so many of the ten.")
    pack: Path | None = option(
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="Only make one file of a kept proof, to share: beside mats and builds its pictures are grey.",
    )


@click.command()
@takes_options(ProveOptions)
def prove(asked: ProveOptions) -> None:
    """How well this table is judged: ten builds are asked for, six right ones and four with a named mistake.

    Their pictures are kept as a session folder: referee bench reads it, referee rejudge judges it anew.
    """
    if asked.pack:
        from referee.benchmark.pack import pack_session  # here: what a table needs not to load

        click.echo(f"{pack_session(asked.pack)}: written; look at its pictures before you share it")
    elif asked.simulated:
        _simulated(asked)
    else:
        at_table(asked, lambda session: _begin(session, asked), (), PAGE)


def _begin(session: Session, asked: ProveOptions) -> None:
    """Ask for the first build, where the rig has been set up; else the page says what is lacking."""
    session.setup.restore(anyway=True)
    session.proof.listen(lambda proof: _tell(session, proof))
    try:
        session.proof.begin(asked.seed, asked.builds)
        click.echo(f"{len(session.proof.tasks)} builds, drawn by seed {session.proof.seed}")
    except IllegalCommand as error:
        click.echo(str(error))


def _tell(session: Session, proof: TableProof) -> None:
    """A line for the last build; after the last one the table's figures and what to mend."""
    result, number = proof.results[-1], len(proof.results)
    task, said = proof.tasks[number - 1], "skipped"
    if result:
        reasons = "; ".join(reason.text for reason in result.verdict.reasons) if result.verdict else "mat not seen"
        said = f"{result.outcome}, the camera says {result.score.ruling}{reasons and f' ({reasons})'}"
    click.echo(f"{number:2d}  {task.card.id}  {task.asked}: {said}")
    if proof.task is None:
        click.echo(proof.figures.text)
        t = texts.tools("en")["t"]
        for bad in to_mend(session):
            click.echo(f"  {t('number.' + bad.name)} {bad.zone} {bad.value:g} {bad.unit}: {t(bad.hint)}")
        click.echo(f"kept: {proof.folder}")


def _simulated(asked: ProveOptions) -> None:
    """The same at the simulated table, whose player builds what is asked for."""
    with simulated_session(asked, asked.fast, PAGE) as (table, session, over), ExitStack() as stack:
        builder = ProofBuilder(session.proof, table.players, session.deck, session.clock)
        stack.callback(builder.stop)
        _begin(session, asked)
        builder.start()
        while session.proof.task and not over.wait(0.1):
            pass
        if not (asked.fast or asked.headless):
            over.wait()
