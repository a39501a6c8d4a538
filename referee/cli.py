"""The composition root: `referee …`. Subcommands load when called, so that `--help` is quick."""

from __future__ import annotations

import importlib
import sys

import click

from cards.errors import RefereeError

COMMANDS = {
    "judge": "referee.commands.vision:judge",
    "calibrate": "referee.commands.vision:calibrate",
    "bench": "referee.commands.vision:bench",
    "print": "referee.commands.printing:print_",
    "cards": "referee.commands.cards:cards",
    "schedule": "referee.commands.match:schedule",
    "export": "referee.commands.match:export",
    "journal": "referee.commands.match:journal",
    "rules": "referee.commands.match:rules",
    "box": "referee.commands.box:box",
    "run": "referee.commands.play:run",
    "demo": "referee.commands.play:demo",
    "rejudge": "referee.commands.attempts:rejudge",
    "keep": "referee.commands.attempts:keep",
    "import": "referee.commands.attempts:import_",
    "timeline": "referee.commands.attempts:timeline",
}


class _Lazy(click.Group):
    """Loads a subcommand's module only when that subcommand is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, attribute = COMMANDS[name].split(":")
        return getattr(importlib.import_module(module), attribute)


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="referee")
def cli() -> None:
    """A camera referee for a tabletop dexterity duel."""


def main() -> None:
    """Run the command line. Faults the project names become one line and exit status 2."""
    try:
        cli(standalone_mode=True)
    except RefereeError as error:
        click.echo(f"referee: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(141)
