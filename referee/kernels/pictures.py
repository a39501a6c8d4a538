"""Every pixel of a frame, once: its label by table, what changed, what differs from the background.

The loops go over plain addresses: for all that C knows the bytes written to a view could be its own strides.
"""

import cython
from cython.cimports.libc.stdlib import abs as apart_of


def look_up(pixels: cython.uchar[:, ::1], table: cython.schar[::1], shift: cython.uint, out: cython.schar[::1]):
    """Write to ``out`` (n,) the label of each of the ``pixels`` (n, 3) BGR: the table's at their upper bits."""
    count: cython.Py_ssize_t = pixels.shape[0]
    if count == 0:
        return
    pixel, cells, labels = cython.address(pixels[0, 0]), cython.address(table[0]), cython.address(out[0])
    bits: cython.uint = 8 - shift
    with cython.nogil:
        for i in range(0, count - 4, 4):
            label_four(pixel + 3 * i, shift, cells, labels + i)
        for i in range((count - 1) // 4 * 4, count):
            b, g, r = pixel[3 * i] >> shift, pixel[3 * i + 1] >> shift, pixel[3 * i + 2] >> shift
            labels[i] = cells[(b << bits | g) << bits | r]


def apart(a, b):
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
    stills: cython.float[:, ::1] = memory.still_s
    labels: cython.schar[:, ::1] = memory.labels
    changes: cython.uchar[:, ::1] = memory.changed.view("u1")
    unusuals: cython.uchar[:, ::1] = memory.unusual.view("u1")
    rest: cython.double = rest_s[0]
    warm_rest: cython.double = rest_s[1]
    shift: cython.int = 3
    bits: cython.int = 8 - shift
    now, then, cells = cython.address(small[0, 0, 0]), cython.address(before[0, 0, 0]), cython.address(table[0, 0, 0])
    known, old = cython.address(usual[0, 0, 0]), cython.address(older[0, 0, 0])
    label, still_s = cython.address(labels[0, 0]), cython.address(stills[0, 0])
    changed, unusual = cython.address(changes[0, 0]), cython.address(unusuals[0, 0])
    with cython.nogil:
        for i in range(small.shape[0] * small.shape[1]):
            at = 3 * i
            label[i] = cells[((now[at] >> shift) << bits | now[at + 1] >> shift) << bits | now[at + 2] >> shift]
            moved: cython.bint = apart(now + at, then + at) > threshold
            new: cython.bint = apart(now + at, known + at) > threshold
            changed[i] = moved
            still_s[i] = 0 if moved else still_s[i] + step_s
            unusual[i] = new and apart(now + at, old + at) > threshold
            if label[i] < 0 and still_s[i] > (warm_rest if label[i] == warm else rest):
                for k in range(at, at + 3):
                    if new:
                        old[k] = known[k]
                    known[k] = now[k]
