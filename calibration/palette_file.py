"""``palette.json``: a palette written to a file and read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from calibration.errors import BadPalette
from calibration.palette import Palette, Wear
from cards.errors import first_fault
from cards.pieces import PieceSet


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore")
    colors: dict[str, dict[str, Any]] = Field(min_length=1)
    wear: dict[str, Any] | None = None
    piece_mm: float | None = Field(default=None, gt=0)


def save_palette(palette: Palette, path: str | Path) -> None:
    """Write a ``palette.json`` that ``load_palette`` reads back."""
    Path(path).write_text(palette_text(palette), encoding="utf-8")


def palette_text(palette: Palette) -> str:
    """What stands in the ``palette.json`` of this palette."""
    colors = {
        name: {
            "mean": palette.means[k].round(5).tolist(),
            "covariance": palette.covariances[k].round(6).tolist(),
            "pixels": int(palette.learnt[k]),
        }
        for k, name in enumerate(palette.names)
    }
    data: dict[str, Any] = {"space": "log light relative to paper: mean, R-G, B-(R+G)/2", "colors": colors}
    if palette.wear:
        data["wear"] = {
            "mean": palette.wear.mean.round(5).tolist(),
            "covariance": palette.wear.covariance.round(6).tolist(),
            "share": round(palette.wear.share, 4),
        }
    if palette.piece_mm is not None:
        data["piece_mm"] = round(palette.piece_mm, 3)
    return json.dumps(data, indent=1)


def load_palette(path: str | Path, piece_set: PieceSet | None = None) -> Palette:
    """Read a ``palette.json``; with a piece set also check that it has exactly those colours.

    Raises BadPalette with one line that names file and fault.
    """
    try:
        file = _File.model_validate_json(Path(path).read_text(encoding="utf-8"))
        names = tuple(file.colors)
        means = np.array([file.colors[n]["mean"] for n in names], float)
        covariances = np.array([file.colors[n]["covariance"] for n in names], float)
        learnt = np.array([file.colors[n].get("pixels", 0) for n in names], float)
        np.linalg.cholesky(covariances)
        wear = _wear_of(file.wear) if file.wear else None
    except OSError as error:
        raise BadPalette(f"{path}: {error.strerror or error}") from None
    except ValidationError as error:
        raise BadPalette(f"{path}: {first_fault(error)}") from None
    except (KeyError, ValueError, TypeError, np.linalg.LinAlgError) as error:
        raise BadPalette(f"{path}: not a palette ({error})") from None
    if means.shape != (len(names), 3) or covariances.shape != (len(names), 3, 3):
        raise BadPalette(f"{path}: mean needs 3 and covariance 3 x 3 numbers a colour")
    if piece_set is not None and set(names) != set(piece_set.colors):
        raise BadPalette(f"{path}: its colours are {', '.join(names)}, the piece set has {', '.join(piece_set.colors)}")
    return Palette(names, means, covariances, learnt, wear, file.piece_mm)


def _wear_of(row: dict[str, Any]) -> Wear:
    mean, covariance = np.array(row["mean"], float), np.array(row["covariance"], float)
    if mean.shape != (3,) or covariance.shape != (3, 3) or not 0 <= row["share"] < 1:
        raise ValueError("wear needs a mean of 3 and a covariance of 3 x 3 numbers and a share below 1")
    np.linalg.cholesky(covariance)
    return Wear(mean, covariance, float(row["share"]))
