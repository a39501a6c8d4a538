"""``referee bench``: the observer held against sessions with truth; what was right, wrong, undecided."""

import click

from referee.commands.bench_options import BenchOptions
from referee.commands.options import takes_options


@click.command()
@takes_options(BenchOptions)
def bench(asked: BenchOptions) -> None:
    """Judge every frame of the session folders DIR… (or of those in them) and hold it against its truth."""
    from referee.commands import benching  # here: what a help text needs not to load

    benching.bench(asked)
