"""How many forgeries of a recorded duel ``verify`` finds: ``python tests/review/bench_forgeries.py``.

Tries every forgery of ``forgeries.py`` on a sealed and signed attempt: every field of the record changed and dropped,
every file flipped, cut and removed, files, folders and links added, the journal's lines dropped, doubled and turned
round, the whole chain made anew, the signature spoilt and replaced. Then HONEST whole attempts. Exit status 1 when a
forgery is missed or an honest attempt is accused.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).parent))

from conftest import make_attempt
from forgeries import forgeries, keys, of_a_signature, sealed

from referee.recording.folder import JOURNAL, META, REVIEW, SIGNATURE, append_line
from referee.review.signing import load_private, load_public, sign
from referee.review.verify import verify

HONEST = 100


def kind_of(name: str) -> str:
    """What is forged."""
    if name.startswith(META):
        return "a field of the record"
    for word, kind in (("flipped", "a file"), ("cut", "a file"), ("removed", "a file"), ("added", "something added")):
        if name.endswith(word):
            return kind
    return "the journal's order" if name.startswith("line") else "chain, digests and signature"


def main() -> int:
    """Print the figures; gives the exit status."""
    kit = SimpleNamespace(make_attempt=make_attempt)
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        place = Path(scratch)
        operator, stranger = keys(place / "keys")
        private, public = load_private(operator), load_public(operator.with_name("operator.pub"))
        folder = sealed(kit, place / "M1-001")
        sign(folder, private)
        tried, missed, by_seal = Counter[str](), list[str](), 0
        for name, forge in [*forgeries(folder), *of_a_signature(folder, stranger)]:
            copy = Path(shutil.copytree(folder, place / "copy" / folder.name))
            forge(copy)
            tried[kind_of(name)] += 1
            by_seal += not verify(copy).consistent
            missed += [name] if verify(copy, key=public).whole else []
            shutil.rmtree(copy)
        made = (honest(kit, place / f"M2-{n:03d}", n, lambda f: sign(f, private), public) for n in range(HONEST))
        accused = [n for n, whole in enumerate(made) if not whole]
    for kind, count in tried.items():
        print(f"{kind:32}{count:5}")
    found = tried.total() - len(missed)
    print(f"{tried.total()} forgeries, {found} found, {by_seal} of them without the key; missed: {missed}")
    print(f"{HONEST} honest attempts, {len(accused)} accused")
    return int(bool(missed or accused))


def honest(kit: SimpleNamespace, folder: Path, number: int, put: Callable[[Path], None], public: str) -> bool:
    """Whether an honest attempt, reviewed by people and with a kept time line, is whole for everybody."""
    sealed(kit, folder, number)
    put(folder)
    append_line(folder / REVIEW, {"kind": "ruling", "who": "Eve"})
    (folder / ".timeline.json").write_text(json.dumps({"key": "x"}))
    assert {JOURNAL, META, SIGNATURE} <= {p.name for p in folder.iterdir()}
    return verify(folder).consistent and verify(folder, key=public).whole


if __name__ == "__main__":
    sys.exit(main())
