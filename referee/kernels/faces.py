"""How smooth the picture is within faces: the mean of each pixel's neighbourhood, and how well the pixel fits it."""

import cython
import numpy as np
from cython.cimports.libc.math import exp, log


def add_around(features, faces, y, x, reach, step, total):
    """Write the sum of the features of the same face around a pixel, every ``step`` px; of how many pixels."""
    total[0] = total[1] = total[2] = 0
    count: cython.int = 0
    v = max(y - reach, y % step)
    while v < min(y + reach + 1, faces.shape[0]):
        u = max(x - reach, x % step)
        while u < min(x + reach + 1, faces.shape[1]):
            if faces[v, u] == faces[y, x]:
                count += 1
                for k in range(3):
                    total[k] += features[v, u, k]
            u += step
        v += step
    return count


def smoothed(
    features: cython.float[:, :, ::1],
    faces: cython.int[:, ::1],
    where,
    reach: cython.Py_ssize_t,
    step: cython.Py_ssize_t,
):
    """Mean of the features (h, w, 3) of the same face around each pixel of a face ``where`` (h, w); elsewhere zero."""
    shown: cython.uchar[:, ::1] = np.ascontiguousarray(where).view("u1")
    smooth = np.zeros((features.shape[0], features.shape[1], 3), np.float32)
    out: cython.float[:, :, ::1] = smooth
    total: cython.float[3]
    height, width = features.shape[0], features.shape[1]
    with cython.nogil:
        for y in range(height):
            for x in range(width):
                if faces[y, x] < 0 or not shown[y, x]:
                    continue
                count = add_around(features, faces, y, x, reach, step, total)
                for k in range(3):
                    out[y, x, k] = total[k] / count
    return smooth


Density = cython.struct(
    light=cython.float,
    a=cython.float,
    b=cython.float,
    near=cython.double,
    wide=cython.double,
    wider=cython.double,
    strange=cython.double,
)
"""Of a pixel about its neighbourhood's mean: the variances of its features; log shares, less their normalisation, of
pixels of that spread and of ones whose variance is so many times ``wider``; and the density of what is neither."""


def likeliest(
    features: cython.float[:, :, ::1],
    faces: cython.int[:, ::1],
    smooth: cython.float[:, :, ::1],
    bare: cython.float[:, ::1],
    where,
    density: Density,
):
    """Log density (n,), relative to its best, of each pixel ``where`` under what the reading shows there or a pixel
    beside: places are not known to the pixel, and a pixel on an edge is a mixture."""
    shown: cython.uchar[:, ::1] = np.ascontiguousarray(where).view("u1")
    height, width = faces.shape[0], faces.shape[1]
    densities = np.empty(height * width, np.float32)
    out: cython.float[::1] = densities
    n: cython.Py_ssize_t = 0
    with cython.nogil:
        for y in range(height):
            for x in range(width):
                if not shown[y, x]:
                    continue
                beside_bare: cython.bint = False
                least: cython.float = 1e9  # the squared distance, in spreads, to the nearest face: it decides
                for v in range(max(y - 1, 0), min(y + 2, height)):
                    for u in range(max(x - 1, 0), min(x + 2, width)):
                        if faces[v, u] < 0:
                            beside_bare = True
                        elif shown[v, u]:
                            light = features[y, x, 0] - smooth[v, u, 0]
                            a, b = features[y, x, 1] - smooth[v, u, 1], features[y, x, 2] - smooth[v, u, 2]
                            off = light * light / density.light + a * a / density.a + b * b / density.b
                            least = min(least, off)
                most: cython.double = -1e9
                if least < 1e9:
                    z = cython.cast(cython.double, least) / 2
                    most = log(exp(density.near - z) + exp(density.wide - z / density.wider) + density.strange)
                if beside_bare:
                    most = max(most, bare[y, x])
                out[n] = most
                n += 1
    return densities[:n]
