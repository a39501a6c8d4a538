"""How an archive is judged again, and the key of one result: the same key means that nothing can have changed."""

import hashlib
import importlib.util
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from referee.errors import BadAttempt
from referee.recording import Attempt, load_attempt
from referee.recording.address import AttemptSource
from referee.recording.folder import AT_GO, CAMERA, DECK, EMPTY, META, PALETTE, PIECES, PLACED, STOP, of_camera
from referee.recording.writer import versions

KEY_LETTERS = 24

JUDGING = ("cards", "calibration", *(f"referee/{p}" for p in ("kernels", "match", "recording", "review", "vision")))
"""Where the source stands that reads an attempt, sees, rules and awards."""

SOURCES = (".py", ".pxd", ".h")


@dataclass(frozen=True)
class RejudgeOptions:
    """What is different this time. Paths are text.

    ``watch`` also reads the videos anew: did the build fall after the press, and by itself?

    ``eye`` names the function that judges pixels as ``module:function``: it takes the attempt, the card and
    the palette's path or None, and gives zone -> the contract's row.
    """

    look: bool = True
    watch: bool = False
    deck: str | None = None
    rules: str | None = None
    palette: str | None = None
    eye: str = "referee.review.rejudge:judge_frames"

    def fingerprint(self) -> str:
        """A digest of everything but the attempt that can change a row: the options, the files they name,
        the judging code, the eye, and the libraries' versions."""
        digest = hashlib.sha256(repr(asdict(self)).encode())
        for path in filter(None, (self.deck, self.rules, self.palette, eye_source(self.eye))):
            digest.update(Path(path).read_bytes())
        digest.update(code_fingerprint().encode() + repr(versions()).encode())
        return digest.hexdigest()[:16]


@lru_cache(maxsize=1)
def code_fingerprint() -> str:
    """A digest of the source that judges: a change of it makes old results stale."""
    root = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for place in JUDGING:
        for path in sorted((root / place).rglob("*.*")):
            if path.suffix in SOURCES:
                digest.update(path.read_bytes())
    return digest.hexdigest()


def eye_source(eye: str) -> str | None:
    """The file of the function that judges. Raises BadAttempt when there is no such module."""
    try:
        found = importlib.util.find_spec(eye.partition(":")[0])
    except (ModuleNotFoundError, ValueError):
        found = None
    if found is None:
        raise BadAttempt(f"--eye {eye}: no such module")
    return found.origin


def is_unjudged(attempt: Attempt) -> bool:
    """Whether no frame was ever judged: a recording from outside, or one that was cut short before its verdict."""
    stopped = attempt.stop_s is not None and attempt.film.exists()
    return stopped and not attempt.meta.get("judged") and not (attempt.folder / STOP).exists()


def files_used(attempt: Attempt, options: RejudgeOptions) -> list[str]:
    """Names of the attempt's files that a row is made of."""
    learnt = (CAMERA, PALETTE, EMPTY, AT_GO, PLACED)
    views = [(view, [of_camera(name, view.number) for name in learnt]) for view in attempt.judged_views]
    seen = [name for view, names in views for name in (*view.judged_names(), *names)] if options.look else []
    pressed = [n for zone in attempt.at_press for _, names in attempt.press_views(zone) for n in names]
    pressed += [name for names in (attempt.meta.get("earlier") or {}).values() for name in names]
    film = [attempt.film.name] if options.watch or (options.look and is_unjudged(attempt)) else []
    return [DECK, PIECES, *seen, *(pressed if options.look else []), *film]


def task_key(source: AttemptSource, options: RejudgeOptions, fingerprint: str) -> str:
    """What one result is of: this record of that name, the files it is made of, judged in this way."""
    folder = Path(source.address)
    digest = hashlib.sha256(f"{folder.parent.name}/{folder.name} {fingerprint} {source.stamp}".encode())
    if not source.is_folder:  # its stamp says it all: nothing is fetched only to see that it has been judged
        digest.update(source.address.encode())
        return digest.hexdigest()[:KEY_LETTERS]
    try:
        attempt = load_attempt(folder)
        hashed = attempt.meta.get("hashes") or {}  # the record holds these; of other files it says nothing
        names = [META, *(name for name in files_used(attempt, options) if name not in hashed)]
        for path in (folder / name for name in names):
            digest.update(path.read_bytes() if path.exists() else b"")
    except (BadAttempt, OSError) as problem:  # its row will say so
        digest.update(str(problem).encode())
    return digest.hexdigest()[:KEY_LETTERS]
