"""How the evening is shown: sides, sound, countdown, pause. Kept in ``evening.json`` of the data folder.

Nothing here touches the match: it is the referee's hand on the board, and holds for every screen that shows it.
"""

import threading
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, ValidationError

from cards.errors import first_fault
from referee.errors import IllegalCommand
from referee.fields import refuse_invisible
from referee.files import write_whole

EVENING_FILE = "evening.json"


class Evening(BaseModel):
    """``swapped``: mat B is on the left where the board hangs. ``volume`` in per cent; ``speech``: names are spoken.
    ``countdown``: seconds from 'Go' on the console to the go, 0 for none. ``pause``: what the board says instead of a
    duel ('' for none), ``back`` when it goes on."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    swapped: StrictBool = False
    sound: StrictBool = True
    speech: StrictBool = True
    volume: int = Field(80, ge=0, le=100)
    countdown: int = Field(3, ge=0, le=10)
    paused: StrictBool = False
    pause: Annotated[str, Field(max_length=120), AfterValidator(refuse_invisible)] = ""
    back: str = Field("", pattern=r"^(\d\d:\d\d)?$")


class EveningStore:
    """The present ``Evening`` of a data folder; ``go_at_s`` is when a countdown on the session's clock ends."""

    def __init__(self, folder: Path) -> None:
        self._path, self._lock = folder / EVENING_FILE, threading.Lock()
        self.go_at_s: float | None = None
        self.now = self._read()

    def change(self, values: dict[str, Any]) -> Evening:
        """Set some of the values. Raises IllegalCommand for a value that is none; then nothing has changed."""
        with self._lock:
            try:
                self.now = Evening.model_validate(self.now.model_dump() | values)
            except ValidationError as error:
                raise IllegalCommand(first_fault(error)) from None
            with suppress(OSError):  # it holds for this run; the disk's own alarm says that it is full
                write_whole(self._path, self.now.model_dump_json(indent=1).encode())
            return self.now

    def _read(self) -> Evening:
        try:
            return Evening.model_validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return Evening()
