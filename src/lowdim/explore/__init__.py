"""The live explorer: a local page, or a widget in a notebook, where an embedding moves as its parameters do."""

from __future__ import annotations

from .opening import Explorer, explore, explore_model

__all__ = ["Explorer", "Widget", "explore", "explore_model"]


def __getattr__(name: str) -> object:
    if name == "Widget":
        from .widget import widget_class

        return widget_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
