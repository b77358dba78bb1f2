"""Pictures and pages of embeddings; Matplotlib is imported when the first one is drawn."""

from __future__ import annotations

from .animation import animate
from .choices import plot_choices
from .diagnostics import plot_eigenvalues, plot_objective
from .distances import plot_coranking, plot_shepard
from .genes import plot_genes
from .page import Page
from .report import write_report
from .static import plot, plot_gallery

__all__ = [
    "Page",
    "animate",
    "plot",
    "plot_choices",
    "plot_coranking",
    "plot_eigenvalues",
    "plot_gallery",
    "plot_genes",
    "plot_objective",
    "plot_shepard",
    "write_report",
]
