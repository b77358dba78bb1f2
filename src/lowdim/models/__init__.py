"""Model files: a fitted estimator on disk, and back."""

from __future__ import annotations

from .description import ModelInfo, describe
from .files import load, save
from .onnx import to_onnx

__all__ = ["ModelInfo", "describe", "load", "save", "to_onnx"]
