"""How large a picture says it is, from its header: a file of kilobytes may unfold to gigabytes."""

import simplejpeg

MOST_PIXELS = 64_000_000
"""Larger pictures are refused: four times a 4K frame, 200 MB unfolded."""


def announced_size(data: bytes) -> tuple[int, int] | None:
    """(width, height) in pixels from the header of a PNG, JPEG, BMP or WebP; None for others and broken ones.

    Layouts: PNG (RFC 2083) IHDR; JPEG (ITU T.81) frame header SOFn; BMP BITMAPINFOHEADER; WebP (RFC 9649).
    """
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    if data.startswith(b"\xff\xd8"):
        try:
            height, width, *_ = simplejpeg.decode_jpeg_header(data)
        except ValueError:
            return None
        return width, height
    if data.startswith(b"BM") and len(data) >= 26:
        width, height = (int.from_bytes(data[at : at + 4], "little", signed=True) for at in (18, 22))
        return abs(width), abs(height)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp(data)
    return None


def too_large(data: bytes) -> str | None:
    """Why the picture is not to be unfolded, as ``20000 x 20000 pixels``; None when it may be."""
    size = announced_size(data)
    return f"{size[0]} x {size[1]} pixels" if size and size[0] * size[1] > MOST_PIXELS else None


def _webp(data: bytes) -> tuple[int, int]:
    kind = data[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF
