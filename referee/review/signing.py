"""An operator's signature under a recorded duel: Ed25519 (RFC 8032), by the ``cryptography`` package, for who wants it.

The seal in the record shows a forgery to whoever has the record or knows its end; the signature shows it to whoever has
the operator's public key. It signs ``attempt.json``, which holds the digest of every file, and ``journal.jsonl``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.errors import BadAttempt
from referee.recording.folder import JOURNAL, META, SIGNATURE, sha256, write_json

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SIGNED_PREFIX = "referee attempt 1"
"""Begins what is signed, so that no signature for anything else fits."""

PRIVATE_MODE = 0o600
"""Only its owner may read a private key."""


def new_key(path: Path) -> Path:
    """Make a key pair: the private key at ``path``, the public one beside it, whose path is given. Raises BadAttempt
    where there is something already."""
    primitives, keys = _library()
    public_path = path.with_name(path.name + ".pub")
    made = keys.Ed25519PrivateKey.generate()
    private = made.private_bytes(primitives.Encoding.PEM, primitives.PrivateFormat.PKCS8, primitives.NoEncryption())
    public = made.public_key().public_bytes(primitives.Encoding.PEM, primitives.PublicFormat.SubjectPublicKeyInfo)
    for target, data in ((path, private), (public_path, public)):
        try:
            with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_MODE), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise BadAttempt(f"{target}: {error.strerror}") from None
    return public_path


def load_private(path: Path) -> Ed25519PrivateKey:
    """The operator's key. Raises BadAttempt naming the file."""
    primitives, keys = _library()
    private: Ed25519PrivateKey = _load(path, "private", lambda data: primitives.load_pem_private_key(data, None), keys)
    return private


def load_public(path: Path) -> str:
    """The public key of a file as text. Raises BadAttempt naming the file."""
    primitives, keys = _library()
    return _text(_load(path, "public", primitives.load_pem_public_key, keys))


def _load(path: Path, which: str, parse: Callable[[bytes], Any], keys: Any) -> Any:
    try:
        key = parse(path.read_bytes())
    except (OSError, ValueError, TypeError) as error:
        raise BadAttempt(f"{path}: no {which} key ({_line(error)})") from None
    if not isinstance(key, (keys.Ed25519PrivateKey, keys.Ed25519PublicKey)):
        raise BadAttempt(f"{path}: no Ed25519 key")
    return key


def sign(folder: Path, key: Ed25519PrivateKey) -> None:
    """Put the signature beside a closed record. May raise OSError."""
    told = {"key": _text(key.public_key()), "signature": key.sign(_signed(folder)).hex()}
    write_json(folder / SIGNATURE, told)


def signed_by(folder: Path) -> str | None:
    """The key whose signature stands under the record; None where there is none. Raises BadAttempt when it is not one
    of what is in the folder now, or when there is no library to check it."""
    try:
        told = json.loads((folder / SIGNATURE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise BadAttempt(f"{SIGNATURE}: {_line(error)}") from None
    _, keys = _library()
    from cryptography.exceptions import InvalidSignature

    try:
        key = keys.Ed25519PublicKey.from_public_bytes(bytes.fromhex(told["key"]))
        key.verify(bytes.fromhex(told["signature"]), _signed(folder))
    except InvalidSignature:
        raise BadAttempt(f"{SIGNATURE}: signs another record") from None
    except (ValueError, TypeError, KeyError) as error:
        raise BadAttempt(f"{SIGNATURE}: no signature ({_line(error)})") from None
    if told.keys() != {"key", "signature"} or _text(key) != told["key"]:
        raise BadAttempt(f"{SIGNATURE}: says more than a signature")
    return str(told["key"])


def _signed(folder: Path) -> bytes:
    """What is signed of a folder."""
    journal = sha256(folder / JOURNAL) if (folder / JOURNAL).exists() else "-"
    return f"{SIGNED_PREFIX}\n{META} {sha256(folder / META)}\n{JOURNAL} {journal}\n".encode()


def _text(key: Ed25519PublicKey) -> str:
    return key.public_bytes_raw().hex()


def _line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise BadAttempt("signatures need the extra 'sign': pip install 'referee[sign]'") from None
    return serialization, ed25519
