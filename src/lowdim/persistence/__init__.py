"""What is kept on disk: model files, and the one way in which files are written.

The names load when they are first used: the file `atomic` serves the packages below, which know nothing of models.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .description import ModelInfo, describe
    from .models import load, save

_HOMES = {"ModelInfo": "description", "describe": "description", "load": "models", "save": "models"}

__all__ = ["ModelInfo", "describe", "load", "save"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
