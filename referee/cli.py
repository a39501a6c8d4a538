"""The composition root: `referee …`. Subcommands load when called, so that `--help` is quick."""

import gc
import importlib
import subprocess
import sys
from contextlib import suppress
from importlib import metadata
from pathlib import Path

import click

from cards.errors import RefereeError

COMMANDS = {
    "judge": ("vision:judge", "Judge the builds in IMAGES against a card."),
    "calibrate": ("vision:calibrate", "Learn colours or a lens from pictures; say whether a rig is fit to judge."),
    "bench": ("bench:bench", "Judge every frame of the session folders DIR… and hold it against its truth."),
    "print": ("printing:print_", "Sheets to print at 100 %: mats, cards, colours, charuco, games."),
    "cards": ("cards:cards", "Decks: proof that each card can be built and stands, new cards, pictures."),
    "example": (
        "example:example",
        "Write rendered sessions and a recorded duel, to try commands on, into the new DIR.",
    ),
    "schedule": ("match:schedule", "Print who meets whom in a match of NUMBER players."),
    "export": ("match:export", "Write a MATCH out of the record; without MATCH, list what the record holds."),
    "journal": ("match:journal", "Check the record, or get back what a damaged one still proves."),
    "backup": ("match:backup", "Copy records, people and settings into the tar FILE; a match may be running."),
    "restore": ("match:restore_", "Unpack the backup FILE into the new or empty FOLDER, and check its records."),
    "rules": ("match:rules", "Print a house_rules.toml with every setting, its question and its default."),
    "box": ("box:box", "Try the button box, or play one."),
    "doctor": ("doctor:doctor", "What this machine lacks to referee, and the command that mends it."),
    "run": ("play:run", "Referee real duels with a camera and a button box, or keys."),
    "demo": ("play:demo", "Referee simulated duels: no hardware needed, everything marked SIMULATED."),
    "practice": ("practice:practice", "Build against the clock, alone or in twos: no button box, no referee."),
    "prove": ("prove:prove", "How well this table is judged: ten builds are asked for, four with a named mistake."),
    "tournament": ("tournament:tournament", "An evening of many tables: who meets whom where, standings, people."),
    "people": ("people:people", "People over evenings: records, results, ratings, recordings; rename, merge, delete."),
    "game": ("games:game", "Four more tower games: what is on record, replays, house rules."),
    "attempts": ("archive:attempts", "The archive of recorded duels: its index; keys and signatures."),
    "verify": ("attempts:verify", "Is every one of ATTEMPTS what was recorded? Is one missing? Offline."),
    "rejudge": ("attempts:rejudge", "Judge ATTEMPTS again: attempt folders, zip bundles, archives of them."),
    "keep": ("attempts:keep", "Keep ATTEMPT's judged frames and the right verdict as a regression test."),
    "import": ("attempts:import_", "Make an attempt of VIDEO, so that it can be judged."),
    "timeline": ("attempts:timeline", "What happened when in ATTEMPTS, read from their videos."),
}
"""Name -> where in ``referee.commands`` it is, and its line in the list: to show that, nothing needs loading."""


class _Lazy(click.Group):
    """Loads a subcommand's module only when that subcommand is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, attribute = COMMANDS[name][0].split(":")
        gc.disable()  # modules stay: to look for garbage among them took a sixth of the time in which they load
        command: click.Command = getattr(importlib.import_module(f"referee.commands.{module}"), attribute)
        gc.enable()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


def build_version() -> str:
    """The installed version, which ends in the commit it was built from; in a checkout its version and git's word."""
    root = Path(__file__).parents[1]
    git = ["git", "-C", str(root), "describe", "--always", "--exclude=*", "--dirty=.dirty"]
    version, commit = metadata.version("referee"), ""
    if (root / ".git").exists():
        with suppress(OSError):  # no git here
            commit = subprocess.run(git, capture_output=True, text=True).stdout.strip()
    return f"{version.partition('+')[0]}+g{commit}" if commit else version


def _show_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        click.echo(f"referee, version {build_version()}")
        ctx.exit()


@click.group(cls=_Lazy, commands=dict.fromkeys(COMMANDS), context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show it.")
def cli() -> None:
    """A camera referee for a tabletop dexterity duel."""


def main() -> None:
    """Run the command line. Faults the project names become one line and exit status 2."""
    try:
        cli(standalone_mode=True)
    except RefereeError as error:
        click.echo(f"referee: {error}", err=True)
        sys.exit(2)
    except ImportError as error:
        if error.name != "referee.kernels":
            raise
        click.echo(f"referee: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(141)
