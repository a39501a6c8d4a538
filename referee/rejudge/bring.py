"""stub"""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Given:
    card: str | None = None
    stop_s: float | None = None
    go_s: float | None = None
    zone: str | None = None
    players: dict = field(default_factory=dict)
    files: dict = field(default_factory=dict)
def bring_in(*a): ...
