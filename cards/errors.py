"""The typed faults of what may be asked: bad pieces, bad cards, bad decks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cards.sentences import Sentence


class RefereeError(Exception):
    """Base of every error this project raises on purpose; its text is one line for a user."""

    @property
    def wording(self) -> str:
        """The text, as a ``Sentence`` where it is one, so that it can be said in any language."""
        first = self.args[0] if self.args else ""
        return first if isinstance(first, Sentence) else str(self)


class BadPieceSet(RefereeError):
    """A piece set that cannot be read or contradicts itself."""


class BadCard(RefereeError):
    """A card or deck that cannot be read, or asks for what the piece set cannot give."""


def parsed_file(
    path: str | Path,
    parse: Callable[[str], Any],
    language: str,
    fault: type[RefereeError],
    refused: tuple[type[Exception], ...] = (ValueError, RecursionError),
) -> Any:
    """What stands in a text file that ``parse`` reads, or refuses by one of these exceptions. Raises ``fault`` with one
    line that names the file."""
    try:
        return parse(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise fault(f"{path}: {error.strerror or error}") from None
    except refused as error:
        raise fault(f"{path}: not {language} ({str(error).splitlines()[0]})") from None


def first_fault(error: ValidationError) -> str:
    """The first fault of a pydantic error as ``place: what is wrong``, one line."""
    row = error.errors()[0]
    place = ".".join(str(part) for part in row["loc"])
    text = row["msg"].removeprefix("Value error, ")
    return f"{place}: {text}" if place else text
