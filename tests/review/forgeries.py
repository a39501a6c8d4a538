"""Sealed and signed attempts, and all the ways to forge one that the tests and the bench try."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from referee.events import Event
from referee.journal.chain import lines_of
from referee.recording.folder import JOURNAL, META, SIGNATURE, hash_files, sha256, write_json
from referee.review.signing import load_private, new_key, sign

Forgery = Callable[[Path], object]


def sealed(kit, folder: Path, number: int = 0, **more) -> Path:
    """A small attempt, closed and sealed as the table does it."""
    kit.make_attempt(folder, number, recorded_at="2026-05-01T20:00:00+00:00", **more)
    (folder / "video.mp4").write_bytes(bytes([number]) * 5000)
    meta = json.loads((folder / META).read_text())
    write_json(folder / META, meta | {"hashes": hash_files(folder)})
    events = [Event("match_created", {"n": number}), Event("go", {"at_s": 1.0})]
    events.append(Event("recording_sealed", {"attempt": folder.name, "sha256": sha256(folder / META)}))
    (folder / JOURNAL).write_text("".join(f"{line}\n" for line in lines_of("M1", events)))
    return folder


def leaves(value, path=()):
    """The path of every value in a JSON value."""
    rows = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    yield from ([path] if path else [])
    for key, inner in rows:
        yield from leaves(inner, (*path, key))


def other(value):
    """Another value of the same kind."""
    return not value if isinstance(value, bool) else value + 1 if isinstance(value, int | float) else [value, "forged"]


def set_at(meta, path, drop):
    """The record with that value changed or dropped."""
    made = copy.deepcopy(meta)
    place = made
    for key in path[:-1]:
        place = place[key]
    if drop:
        del place[path[-1]]
    else:
        place[path[-1]] = other(place[path[-1]])
    return made


def forgeries(folder: Path) -> Iterator[tuple[str, Forgery]]:
    """Name and doing of every forgery that is tried."""
    meta = json.loads((folder / META).read_text())
    for path in leaves(meta):
        for drop in (False, True):
            yield f"{META} {path} {drop}", lambda f, p=path, d=drop: write_json(f / META, set_at(meta, p, d))
    yield "no hashes", lambda f: write_json(f / META, {k: v for k, v in meta.items() if k != "hashes"})
    for name in (*meta["hashes"], JOURNAL, META):
        yield f"{name} flipped", lambda f, n=name: flip(f / n)
        yield f"{name} removed", lambda f, n=name: (f / n).unlink()
        yield f"{name} cut", lambda f, n=name: (f / n).write_bytes((f / n).read_bytes()[:-9])
    for name in ("palette.json", "stop_1.png", "notes.txt", ".hidden"):
        yield f"{name} added", lambda f, n=name: (f / n).write_text("{}")
    yield "a folder added", lambda f: (f / "more").mkdir()
    yield "a link added", lambda f: (f / "more").symlink_to("video.mp4")
    yield "rehashed", lambda f: rehash(f)
    for n in range(3):
        yield f"line {n} gone", lambda f, n=n: reorder(f, lambda lines: lines[:n] + lines[n + 1 :])
        yield f"line {n} twice", lambda f, n=n: reorder(f, lambda lines: [*lines[: n + 1], *lines[n:]])
    yield "lines turned round", lambda f: reorder(f, lambda lines: lines[::-1])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def rehash(folder: Path) -> None:
    """A changed film with its digest put right."""
    flip(folder / "video.mp4")
    meta = json.loads((folder / META).read_text())
    write_json(folder / META, meta | {"hashes": hash_files(folder)})


def reorder(folder: Path, change) -> None:
    lines = (folder / JOURNAL).read_text().splitlines()
    (folder / JOURNAL).write_text("".join(f"{line}\n" for line in change(lines)))


def forge_all(folder: Path) -> None:
    """Another award, with every digest and the whole chain worked out anew: only the record or a key can tell."""
    meta = json.loads((folder / META).read_text())
    write_json(folder / META, meta | {"award": "Mallory"})
    reseal(folder, 99)


def reseal(folder: Path, number: int) -> None:
    """A chain of its own that vouches for the record as it is."""
    events = [Event("match_created", {"n": number}), Event("go", {"at_s": 1.0})]
    events.append(Event("recording_sealed", {"attempt": folder.name, "sha256": sha256(folder / META)}))
    (folder / JOURNAL).write_text("".join(f"{line}\n" for line in lines_of("M1", events)))


def of_a_signature(folder: Path, stranger: Path) -> Iterator[tuple[str, Forgery]]:
    """Forgeries that only who asks for the operator's key can find, and those of the signature itself."""

    def changed(**more: object) -> Forgery:
        return lambda f: write_json(f / SIGNATURE, json.loads((f / SIGNATURE).read_text()) | more)

    def signed_by_a_stranger(place: Path) -> None:
        forge_all(place)
        sign(place, load_private(stranger))

    told = json.loads((folder / SIGNATURE).read_text())
    yield "everything anew", forge_all
    yield "everything anew, no signature", lambda f: (forge_all(f), (f / SIGNATURE).unlink())
    yield "everything anew, another's signature", signed_by_a_stranger
    yield "no signature", lambda f: (f / SIGNATURE).unlink()
    yield "another's signature", lambda f: sign(f, load_private(stranger))
    yield "no JSON", lambda f: (f / SIGNATURE).write_text("{")
    yield "a list", lambda f: (f / SIGNATURE).write_text("[]")
    yield "an empty key", changed(key="")
    yield "another key", changed(key="00" * 32)
    yield "another case of letters", changed(key=told["key"].upper())
    yield "an empty signature", changed(signature="")
    yield "more words", changed(more=1)
    for n in range(0, 128, 16):
        digit = format(int(told["signature"][n], 16) ^ 1, "x")
        yield f"digit {n}", changed(signature=told["signature"][:n] + digit + told["signature"][n + 1 :])


def keys(folder: Path) -> tuple[Path, Path]:
    """An operator's private key and a stranger's."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("operator", "stranger"):
        new_key(folder / name)
    return folder / "operator", folder / "stranger"
