"""The lens: intrinsics and distortion, read from and written to the ROS ``camera_info`` layout."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import cv2
import numpy as np
import yaml
from pydantic import BaseModel, Field, ValidationError, model_validator

from calibration.errors import BadCamera
from cards.errors import first_fault, parsed_file
from cards.sentences import sentence

SAME_ASPECT = 0.01
"""Sizes whose aspect ratios differ by less are of one lens: rounding loses a row or two."""

USUAL_FOCAL = 0.78
"""Focal length in widths of the picture, of a webcam that sees 65 degrees across."""


@dataclass(frozen=True)
class CameraModel:
    """Pinhole with plumb-bob distortion. ``matrix`` (3, 3) px, ``distortion`` (5,) k1 k2 p1 p2 k3.

    ``estimated`` says that focal length and bend were worked out from the mats, not calibrated.
    """

    width: int
    height: int
    matrix: np.ndarray
    distortion: np.ndarray
    estimated: bool = False

    @property
    def focal_px(self) -> float:
        """Mean focal length in pixels."""
        return float((self.matrix[0, 0] + self.matrix[1, 1]) / 2)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Pixels (n, 2) of points (n, 3) given in the camera's frame in mm."""
        if not len(points):
            return np.zeros((0, 2))
        zero = np.zeros(3)
        points = np.ascontiguousarray(points, float)
        return cv2.projectPoints(points, zero, zero, self.matrix, self.distortion)[0].reshape(-1, 2)

    def scaled_to(self, width: int, height: int) -> "CameraModel":
        """The same lens for another picture size of the same aspect ratio.

        Raises BadCamera when the aspect ratios differ by more than 1 %.
        """
        sx, sy = width / self.width, height / self.height
        if abs(sx / sy - 1) > SAME_ASPECT:
            raise BadCamera(sentence("other_size", a=self.width, b=self.height, c=width, d=height))
        if sx == sy == 1.0:
            return self
        scale = np.diag([sx, sy, 1.0])
        return CameraModel(width, height, scale @ self.matrix, self.distortion, self.estimated)

    def turned(self) -> "CameraModel":
        """The lens of the same picture turned by a quarter, anticlockwise (``np.rot90``): a camera on its side."""
        (fx, _, cx), (_, fy, cy), _ = self.matrix
        matrix = np.array([[fy, 0, cy], [0, fx, self.width - 1 - cx], [0, 0, 1.0]])
        k1, k2, p1, p2, k3 = self.distortion
        return CameraModel(self.height, self.width, matrix, np.array([k1, k2, -p2, p1, k3]), self.estimated)


def guessed_camera(width: int, height: int, focal_px: float | None = None) -> CameraModel:
    """A lens without distortion; focal length 0.78 widths (a 65 degree webcam) unless given."""
    f = focal_px or USUAL_FOCAL * width
    matrix = np.array([[f, 0, width / 2 - 0.5], [0, f, height / 2 - 0.5], [0, 0, 1.0]])
    return CameraModel(width, height, matrix, np.zeros(5), estimated=True)


class _Matrix(BaseModel):
    data: Annotated[list[float], Field(min_length=9, max_length=9)]

    @model_validator(mode="after")
    def _pinhole(self) -> "_Matrix":
        if not (self.data[0] > 0 and self.data[4] > 0 and self.data[8] == 1):
            raise ValueError("not a pinhole matrix: fx and fy above 0 and a last entry of 1 are needed")
        return self


class _Distortion(BaseModel):
    data: Annotated[list[float], Field(min_length=4, max_length=8)]


class _CameraFile(BaseModel):
    image_width: int = Field(gt=0)
    image_height: int = Field(gt=0)
    camera_matrix: _Matrix
    distortion_model: str = "plumb_bob"
    distortion_coefficients: _Distortion

    @model_validator(mode="after")
    def _known_model(self) -> "_CameraFile":
        if self.distortion_model != "plumb_bob":
            raise ValueError(f"distortion_model {self.distortion_model!r} is not plumb_bob")
        return self


def load_camera(path: str | Path) -> CameraModel:
    """Read a ``camera.yaml``. Raises BadCamera with one line that names file and fault."""
    data = parsed_file(path, yaml.safe_load, "YAML", BadCamera, (yaml.YAMLError, ValueError, RecursionError))
    try:
        file = _CameraFile.model_validate(data)
    except ValidationError as error:
        raise BadCamera(f"{path}: {first_fault(error)}") from None
    matrix = np.array(file.camera_matrix.data, float).reshape(3, 3)
    distortion = np.array([*file.distortion_coefficients.data, 0.0], float)[:5]
    return CameraModel(file.image_width, file.image_height, matrix, distortion)


def camera_file(camera: CameraModel, name: str = "webcam") -> dict[str, Any]:
    """The lens in the layout of a ``camera.yaml``, JSON-able."""
    return {
        "image_width": camera.width,
        "image_height": camera.height,
        "camera_name": name,
        "camera_matrix": {"rows": 3, "cols": 3, "data": [round(float(v), 6) for v in camera.matrix.ravel()]},
        "distortion_model": "plumb_bob",
        "distortion_coefficients": {"rows": 1, "cols": 5, "data": [round(float(v), 9) for v in camera.distortion]},
    }


def camera_text(camera: CameraModel, name: str = "webcam") -> str:
    """The lens as the text of a ``camera.yaml``."""
    return yaml.safe_dump(camera_file(camera, name), sort_keys=False)
