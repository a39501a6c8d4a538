"""What strangers hand in: bundles, records and pictures that are ill-formed on purpose become one line."""

from __future__ import annotations

import json
import struct
import warnings
import zipfile
import zlib

import cv2
import numpy as np
import pytest

from calibration.picture_size import too_large
from cards.deck import load_deck
from cards.errors import RefereeError
from cards.pieces import load_piece_set
from referee.errors import BadAttempt, BadImage
from referee.match.house_rules import load_rules
from referee.recording import load_attempt
from referee.recording.folder import find_attempts, read_image, unpack
from referee.vision.image.files import read_picture

DEEP = "[" * 100_000


def one_line(error: pytest.ExceptionInfo) -> bool:
    return "\n" not in str(error.value) and 0 < len(str(error.value)) < 400


@pytest.mark.parametrize("load", [load_deck, load_piece_set, load_rules])
def test_a_file_of_nothing_but_brackets_is_refused_in_one_line(tmp_path, load):
    path = tmp_path / "file"
    path.write_text(("a = " if load is load_rules else "") + DEEP)
    with pytest.raises(RefereeError) as refused:
        load(path)
    assert one_line(refused)


@pytest.mark.parametrize(
    "meta",
    [
        '{"card": [1]}',
        '{"card": "L01", "verdicts": 5}',
        '{"card": "L01", "verdicts": {"A": {}}}',
        '{"card": "L01", "stop": 4}',
        '{"card": "L01", "players": ["Ann"]}',
        '{"card": "L01", "judged": [7]}',
        '{"card": "L01", "zones": "AB"}',
        '{"card": "L01", "hashes": {"video.mp4": 1}}',
        '{"card": ' + DEEP + "}",
        "[]",
    ],
)
def test_a_record_of_the_wrong_shape_is_refused_in_one_line(tmp_path, meta):
    (tmp_path / "attempt.json").write_text(meta)
    with pytest.raises(BadAttempt) as refused:
        load_attempt(tmp_path)
    assert one_line(refused)


def bundle(path, files, **kinds):
    with zipfile.ZipFile(path, "w", **kinds) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return path


def test_a_bundle_a_thousand_folders_deep_is_refused(tmp_path):
    packed = bundle(tmp_path / "b.zip", {"d/" * 1200 + "attempt.json": "{}"})
    with pytest.raises(BadAttempt, match="deep") as refused:
        unpack(packed, tmp_path / "out")
    assert one_line(refused) and not (tmp_path / "out").exists()


def test_an_archive_of_folders_in_folders_is_searched_only_so_deep(tmp_path):
    deep = tmp_path.joinpath(*["d"] * 40)
    deep.mkdir(parents=True)
    (deep / "attempt.json").write_text("{}")
    assert find_attempts(tmp_path) == []


def test_a_bundle_that_unfolds_to_a_hundred_times_its_size_is_refused(tmp_path):
    packed = bundle(tmp_path / "b.zip", {"a/attempt.json": b"0" * 10_000_000}, compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(BadAttempt, match="100 times"):
        unpack(packed, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_encrypted_bundle_is_refused(tmp_path):
    packed = bundle(tmp_path / "b.zip", {"a/attempt.json": "{}"})
    data = bytearray(packed.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + at] |= 1
    packed.write_bytes(data)
    with pytest.raises(BadAttempt, match="encrypted"):
        unpack(packed, tmp_path / "out")


def test_a_bundle_packed_in_an_unknown_way_is_refused(tmp_path):
    packed = bundle(tmp_path / "b.zip", {"a/attempt.json": "{}"})
    data = bytearray(packed.read_bytes())
    for mark, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        data[data.index(mark) + at] = 97
    packed.write_bytes(data)
    with pytest.raises(BadAttempt) as refused, warnings.catch_warnings():
        unpack(packed, tmp_path / "out")
    assert one_line(refused)


def png(width: int, height: int) -> bytes:
    """A PNG that says it is so large and holds next to nothing."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [10_000, 20_000, 2**31 - 1])
def test_a_small_file_that_unfolds_to_hundreds_of_megapixels_is_refused_from_its_header(tmp_path, side):
    path = tmp_path / "bomb.png"
    path.write_bytes(png(side, side))
    with pytest.raises(BadImage, match="too large, more than 89478485 pixels") as refused:
        read_picture(path)
    assert one_line(refused)
    with pytest.raises(BadAttempt, match="too large"):
        read_image(path)


@pytest.mark.parametrize("image", [np.zeros((9, 9), np.uint8), np.zeros((9, 9, 3), np.uint16)], ids=["grey", "16 bits"])
def test_an_earlier_picture_of_another_kind_is_named(tmp_path, image):
    (tmp_path / "attempt.json").write_text(json.dumps({"card": "L01", "earlier": {"A": ["earlier_settled_A_0.png"]}}))
    cv2.imwrite(str(tmp_path / "earlier_settled_A_0.png"), image)
    with pytest.raises(BadAttempt, match=r"earlier_settled_A_0\.png: not a picture"):
        load_attempt(tmp_path).earlier_pictures()


@pytest.mark.parametrize("kind", [".png", ".jpg", ".bmp", ".webp"])
def test_what_is_no_bomb_is_not_too_large(kind):
    data = cv2.imencode(kind, np.zeros((90, 130, 3), np.uint8))[1].tobytes()
    assert too_large(data) is None and too_large(data[:10]) is None and too_large(b"") is None


def test_a_broken_review_is_named(tmp_path):
    (tmp_path / "attempt.json").write_text(json.dumps({"card": "L01"}))
    (tmp_path / "review.jsonl").write_text(DEEP)
    with pytest.raises(BadAttempt, match=r"review\.jsonl"):
        load_attempt(tmp_path).reviews()
