"""Commands to the box under way: each is said again until it is answered, and none overtakes the one before. Pure."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from referee.devices.box_protocol import Message

RESEND_S = 0.15  # well above the 2 x 30 ms a bad line may take
TRIES = 8


@dataclass
class _Pending:
    sentence: Message
    due_s: float
    tries: int = 0


@dataclass
class CommandQueue:
    """``hello`` goes before all commands and is never given up. ``resent`` and ``given_up`` count since the start."""

    resent: int = 0
    given_up: int = 0
    _hello: _Pending | None = None
    _commands: deque[_Pending] = field(default_factory=deque)  # only the first is under way

    @property
    def greeting(self) -> bool:
        """Whether a hello waits for its answer."""
        return self._hello is not None

    def greet(self, hello: Message, now_s: float) -> None:
        """Say this hello until it is answered, in place of any other."""
        self._hello = _Pending(hello, now_s)

    def add(self, command: Message, now_s: float) -> None:
        """Say this command when those before it are answered."""
        self._commands.append(_Pending(command, now_s))

    def clear(self) -> None:
        """Give up all commands; a hello goes on."""
        self._commands.clear()

    def begin(self) -> None:
        """A new connection: the hello of the last one is void."""
        self._hello = None

    def answered(self, number: int) -> Message | None:
        """The command that this number answers, which is then done; None for a hello and for none."""
        if self._hello is not None and self._hello.sentence.number == number:
            self._hello = None
        elif self._commands and self._commands[0].sentence.number == number:
            return self._commands.popleft().sentence
        return None

    def due(self, met: bool, now_s: float) -> list[Message]:
        """What to say now: the hello, and once the box is ``met`` the first command."""
        out = self._say(self._hello, now_s)
        if not met or self._hello is not None or not self._commands:
            return out
        head = self._commands[0]
        if head.tries >= TRIES and now_s >= head.due_s:
            self._commands.popleft()
            self.given_up += 1
            return out
        return out + self._say(head, now_s)

    def _say(self, pending: _Pending | None, now_s: float) -> list[Message]:
        if pending is None or now_s < pending.due_s:
            return []
        self.resent += pending.tries > 0
        pending.tries += 1
        pending.due_s = now_s + RESEND_S
        return [pending.sentence]
