"""Every pixel of a frame, once: its label by table, what changed, what differs from the background."""

import cython
from cython.cimports.libc.stdlib import abs as apart_of


def look_up(pixels: cython.uchar[:, ::1], table: cython.schar[::1], shift: cython.uint, out: cython.schar[::1]):
    """Write to ``out`` (n,) the label of each of the ``pixels`` (n, 3) BGR: the table's at their upper bits."""
    bits: cython.uint = 8 - shift
    with cython.nogil:
        for i in range(pixels.shape[0]):
            b, g, r = pixels[i, 0] >> shift, pixels[i, 1] >> shift, pixels[i, 2] >> shift
            out[i] = table[((b << bits) | g) << bits | r]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def apart(a: cython.p_uchar, b: cython.p_uchar) -> cython.int:
    """The largest difference of two pixels' channels."""
    return max(apart_of(a[0] - b[0]), apart_of(a[1] - b[1]), apart_of(a[2] - b[2]))


def compare(
    small: cython.uchar[:, :, ::1],
    memory,
    table: cython.schar[:, :, ::1],
    threshold: cython.int,
    step_s: cython.float,
    rest_s,
    warm: cython.int,
):
    """One pass over a frame (h, w, 3): labels, what changed since the frame before, what differs from both backgrounds.

    ``memory``: pictures ``before``, ``usual`` and ``older``, ``still_s``, ``labels``, ``changed`` and ``unusual``; all
    but the first are written to. What has lain still for the first of ``rest_s``, or for the second if it is labelled
    ``warm``, is the background from then on.
    """
    before: cython.uchar[:, :, ::1] = memory.before
    usual: cython.uchar[:, :, ::1] = memory.usual
    older: cython.uchar[:, :, ::1] = memory.older
    still_s: cython.float[:, ::1] = memory.still_s
    labels: cython.schar[:, ::1] = memory.labels
    changed: cython.uchar[:, ::1] = memory.changed.view("u1")
    unusual: cython.uchar[:, ::1] = memory.unusual.view("u1")
    rest: cython.double = rest_s[0]
    warm_rest: cython.double = rest_s[1]
    with cython.nogil:
        for y in range(small.shape[0]):
            for x in range(small.shape[1]):
                pixel, label = cython.address(small[y, x, 0]), cython.address(labels[y, x])
                label[0] = table[pixel[0] >> 3, pixel[1] >> 3, pixel[2] >> 3]
                moved: cython.bint = apart(pixel, cython.address(before[y, x, 0])) > threshold
                new: cython.bint = apart(pixel, cython.address(usual[y, x, 0])) > threshold
                changed[y, x] = moved
                still_s[y, x] = 0 if moved else still_s[y, x] + step_s
                unusual[y, x] = new and apart(pixel, cython.address(older[y, x, 0])) > threshold
                if label[0] < 0 and still_s[y, x] > (warm_rest if label[0] == warm else rest):
                    for k in range(3):
                        if new:
                            older[y, x, k] = usual[y, x, k]
                        usual[y, x, k] = pixel[k]
