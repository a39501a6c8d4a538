"""Options of a command line as one value, a dataclass with a field for each."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from functools import partial, wraps
from inspect import get_annotations
from pathlib import Path
from typing import Any, TypeVar

import click

from cards.errors import RefereeError
from referee.match.schedule import comparable_name

NAMES = ("Ann", "Ben", "Cem", "Dia", "Eli", "Fay", "Gus", "Hal", "Ida", "Jon", "Kim", "Leo")
"""Who plays where only a number is given."""

PORT = click.IntRange(0, 65535)
"""A TCP port; 0 asks for a free one."""

PATH = click.Path(path_type=Path)
USUAL_PORT = 8000

T = TypeVar("T")


def simulated_players(text: str) -> list[str]:
    """So many of the usual names, or the names in a list. Raises RefereeError."""
    if not text.isdigit():
        return names_in(text)
    if not 2 <= int(text) <= len(NAMES):
        raise RefereeError(f"--players: from 2 to {len(NAMES)} can play, not {text}")
    return list(NAMES[: int(text)])


def names_in(text: str) -> list[str]:
    """The names in a list with commas. Raises RefereeError for a blank one, and for two that are the same but for
    capitals and the way an accent is written."""
    names = [part.strip() for part in text.split(",")]
    if not all(names):
        raise RefereeError("--players: a name is blank; write them as in Ann,Ben")
    for n, name in enumerate(names):
        if twin := next((other for other in names[:n] if comparable_name(other) == comparable_name(name)), None):
            raise RefereeError(f"--players: players need different names: {twin!r} and {name!r} are the same")
    return names


def same_players(one: Iterable[str], other: Iterable[str]) -> bool:
    """Whether these are the same people, in any order."""
    return sorted(map(comparable_name, one)) == sorted(map(comparable_name, other))


def option(*names: str, **how: Any) -> Any:
    """A field of a class of options (``takes_options``), for ``click.option``: named as the field if no name is given.

    A default that is not empty is shown.
    """
    shown = {"show_default": bool(how.get("default"))}
    return field(metadata={"click": partial(click.option, *names, **shown | how), "named": bool(names)})


def argument(**how: Any) -> Any:
    """A field of a class of options (``takes_options``), for ``click.argument``."""
    return field(metadata={"click": partial(click.argument, **how), "named": True})


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """Where pages are served, and for whom."""

    host: str = option(default="127.0.0.1", help="Address of the pages.")
    port: int | None = option(
        type=PORT, help=f"Their port; 0 takes a free one, and so does {USUAL_PORT}, the default, when it is taken."
    )
    pin: str | None = option(help="The PIN, 6 characters or more; made up and printed when --host is not this machine.")
    tls: tuple[Path, Path] | None = option(
        nargs=2, type=PATH, metavar="CERT KEY", help="Serve https with these PEM files."
    )


@dataclass(frozen=True, kw_only=True)
class BrowsedOptions(PageOptions):
    """Where pages are served, and whether a browser opens on them."""

    no_browser: bool = option(is_flag=True, help="Do not open the pages in a browser.")


def takes_options(kind: type[T]) -> Callable[[Callable[[T], None]], Callable[..., None]]:
    """Have a command take the options that the dataclass ``kind`` declares as one value of it.

    Its own come first in the help text, then those of the classes that it extends.
    """
    declared = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    names = dict.fromkeys(name for one in kind.__mro__ for name in get_annotations(one) if name in declared)

    def taking(command: Callable[[T], None]) -> Callable[..., None]:
        @wraps(command)
        def called(**given: Any) -> None:
            command(kind(**given))

        for name in reversed(names):
            if how := declared[name].metadata:
                usual = () if how["named"] else (f"--{name.replace('_', '-')}",)
                called = how["click"](*usual, name)(called)
        return called

    return taking
