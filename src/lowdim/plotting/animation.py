"""An optimisation as a moving picture."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from ..core.atomic import writing
from ..core.records import Floats
from ..errors import InputError
from .colours import colouring
from .drawing import drawing_order, require_matplotlib
from .frames import Frames, title_of
from .labels import Labels, named
from .static import picture


def animate(
    frames: Frames,
    labels: Labels = None,
    *,
    path: str | os.PathLike[str],
    frames_per_second: int = 10,
    point_size: float | None = None,
) -> Path:
    """Write the frames of an optimisation as an animated GIF, each scaled to fill the picture.

    Parameters
    ----------
    frames
        Iteration, or position, and embedding of each frame: ``frames_`` of an estimator with ``record=10``, or of
        `NeighborSpectrum`.
    labels
        As in `lowdim.plot`.
    path
        Where to write: a .gif. It is written whole or not at all.
    frames_per_second
        Speed.
    point_size
        As in `lowdim.plot`.

    Examples
    --------
    >>> import lowdim
    >>> digits = lowdim.datasets.load("digits")
    >>> model = lowdim.TSNE(record=50, max_iter=200).fit(digits.data[:200])
    >>> lowdim.animate(model.frames_, digits.labels[:200], path="fit.gif")  # doctest: +SKIP
    """
    require_matplotlib()
    from matplotlib.animation import FuncAnimation, PillowWriter

    target = Path(path)
    if target.suffix.lower() != ".gif":
        raise InputError(f"path must end in .gif; got {target.name!r}. Rename it.")
    if not frames or any(frame.ndim != 2 or frame.shape[1] != 2 for _, frame in frames):
        raise InputError(
            "frames must hold at least one embedding, of two dimensions each. Fit with record=10, n_components=2, and "
            "give frames_."
        )
    if not frames_per_second > 0:
        raise InputError(f"frames_per_second must be above 0; got {frames_per_second!r}.")
    given = named(labels)
    figure = picture(_fitted(frames[0][1]), given, point_size=point_size, density=False, names=False)
    axes = figure.axes[0]
    points = axes.collections[0]
    order = drawing_order(colouring(given, len(frames[0][1]), continuous=None, scale=None))
    axes.set_aspect("equal", adjustable="box")
    axes.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), xticks=[], yticks=[])

    def show(place: int) -> tuple[object, ...]:
        which, frame = frames[place]
        points.set_offsets(_fitted(frame)[order])
        axes.set_title(title_of(which))
        return (points,)

    with writing(target) as temporary:
        moving = FuncAnimation(figure, show, frames=len(frames), blit=False)  # type: ignore[arg-type]
        moving.save(str(temporary), writer=PillowWriter(fps=frames_per_second), dpi=90)
    return target


def _fitted(frame: Floats) -> Floats:
    """Coordinates centred and scaled to the square from -1 to 1."""
    middle = (frame.max(axis=0) + frame.min(axis=0)) / 2
    half = float(np.abs(frame - middle).max())
    return np.asarray((frame - middle) / (half if half > 0 else 1.0))
