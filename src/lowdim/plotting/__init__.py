"""Pictures of embeddings; Matplotlib is imported when the first one is drawn."""

from __future__ import annotations

from .animation import animate
from .static import plot, plot_gallery

__all__ = ["animate", "plot", "plot_gallery"]
