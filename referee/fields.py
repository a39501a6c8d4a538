"""What a field of a command may hold, said once: for the program as a type, for strangers as a limit on it. Pure.

In code a field is what its type says. What a stranger sends is checked by pydantic against the limits beside it
(``body_of``), and the description of the API is made of the same ones.

Of text, a letter that nobody sees, or that turns its neighbours round, makes one name pass for another. Refused or
shown are control characters (Cc), formatting ones such as bidirectional overrides and zero-width letters (Cf), line and
paragraph separators (Zl, Zp), lone surrogates (Cs) and fillers that draw nothing.
"""

import inspect
import unicodedata
from dataclasses import MISSING, fields
from typing import Annotated, Any, TypeVar, get_type_hints

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetPydanticSchema, create_model
from pydantic_core import core_schema

from referee.core import NEEDED, Command

INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
INVISIBLE_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
REPLACEMENT_CHARACTER = "\N{REPLACEMENT CHARACTER}"
PRINTABLE = "^[^\\x00-\\x1f\\x7f]*$"


def is_hidden(letter: str) -> bool:
    """Whether nobody would see that this letter is there."""
    return unicodedata.category(letter) in INVISIBLE_CATEGORIES or letter in INVISIBLE_FILLERS


def refuse_invisible(text: str) -> str:
    """The text itself. Raises ValueError when it holds a letter that cannot be seen."""
    hidden = sorted({f"U+{ord(letter):04X}" for letter in text if is_hidden(letter)})
    if hidden:
        raise ValueError(f"a character that cannot be seen ({', '.join(hidden[:3])})")
    return text


def displayable(text: str, most: int) -> str:
    """The text of at most so many letters, each that cannot be seen replaced by one that can."""
    return "".join(REPLACEMENT_CHARACTER if is_hidden(letter) else letter for letter in text.strip())[:most]


Text = Annotated[str, Field(max_length=300, pattern=PRINTABLE), AfterValidator(refuse_invisible)]
NeededText = Annotated[Text, NEEDED]
Name = Annotated[str, Field(min_length=1, max_length=40, pattern=PRINTABLE), AfterValidator(refuse_invisible)]
Number = Annotated[int, Field(ge=0, le=10**6, strict=True)]
Flag = Annotated[bool, Field(strict=True)]
Zone = Annotated[str, GetPydanticSchema(lambda *_: core_schema.literal_schema(["A", "B"]))]

T = TypeVar("T")
BY_PROGRAM = "by program"
ByProgram = Annotated[T, BY_PROGRAM]
"""A field that only the program fills: times, verdicts, what the session knows."""


def body_of(command: type[Command], about: str = "", **others: Any) -> type[BaseModel]:
    """The command as a stranger sends it: without what the program fills, and with ``who`` left to the log-in.

    ``about`` describes it, in place of its docstring's first paragraph; ``others`` are fields (type, default) more.
    """
    hints = get_type_hints(command, include_extras=True)
    asked = [f for f in fields(command) if BY_PROGRAM not in getattr(hints[f.name], "__metadata__", ())]
    rows = {f.name: (hints[f.name], ... if f.default is MISSING else f.default) for f in asked} | others
    if "who" in rows:
        rows["who"] = (Text, "")
    about = about or inspect.cleandoc(command.__doc__ or "").partition("\n\n")[0]
    model: type[BaseModel] = create_model(
        command.__name__, __config__=ConfigDict(extra="forbid"), __doc__=about, **rows
    )
    return model
