"""An optimisation as a moving picture."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.atomic import writing
from ..core.records import Floats
from ..errors import InputError, InputTypeError, MissingExtraError
from .colours import colouring
from .drawing import drawing_order, require_matplotlib
from .frames import Frames, title_of
from .labels import Labels, named
from .static import picture

if TYPE_CHECKING:
    from matplotlib.artist import Artist

ENDINGS = (".gif", ".mp4", ".webm")
_DOTS = 90
_CODECS = {".mp4": ("libx264", ("-crf", "20")), ".webm": ("libvpx-vp9", ("-crf", "32", "-b:v", "0"))}


def animate(
    frames: Frames,
    labels: Labels = None,
    *,
    path: str | os.PathLike[str],
    frames_per_second: int = 10,
    point_size: float | None = None,
) -> Path:
    """Write the frames of an optimisation as a moving picture, each scaled to fill it.

    Parameters
    ----------
    frames
        Iteration, or position, and embedding of each frame: ``frames_`` of an estimator with ``record=10``, or of
        `NeighborSpectrum`.
    labels
        As in `lowdim.plot`.
    path
        Where to write: a .gif; or, where the program ffmpeg is installed, an .mp4 or .webm, which is a tenth of the
        size; without an ending an .mp4 where ffmpeg is there and a .gif where not. It is written whole or not at all.
    frames_per_second
        Speed.
    point_size
        As in `lowdim.plot`.

    Returns
    -------
    Path
        Where it was written.

    Examples
    --------
    >>> import lowdim
    >>> digits = lowdim.datasets.load("digits")
    >>> model = lowdim.TSNE(record=50, max_iter=200).fit(digits.data[:200])
    >>> lowdim.animate(model.frames_, digits.labels[:200], path="fit.gif")  # doctest: +SKIP
    """
    require_matplotlib()
    from matplotlib.animation import FuncAnimation

    target = moving_target(Path(path))
    if hasattr(frames, "fit"):
        raise InputTypeError(
            f"frames must be a list of frames; got the estimator {type(frames).__name__}. Fit it with record=10, and "
            "give its frames_."
        )
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

    def show(place: int) -> tuple[Artist, ...]:
        which, frame = frames[place]
        points.set_offsets(_fitted(frame)[order])
        axes.set_title(title_of(which))
        return (points,)

    with writing(target) as temporary:
        moving = FuncAnimation(figure, show, frames=len(frames), blit=False)
        moving.save(str(temporary), writer=_writer(target.suffix.lower(), frames_per_second), dpi=_DOTS)
    return target


def moving_target(path: Path) -> Path:
    """Where to write, by the ending, or by what there is to write with."""
    has_ffmpeg = shutil.which("ffmpeg") is not None
    if not path.suffix:
        return path.with_suffix(".mp4" if has_ffmpeg else ".gif")
    if path.suffix.lower() not in ENDINGS:
        raise InputError(
            f"path must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}; got {path.name!r}. Rename it."
        )
    if path.suffix.lower() != ENDINGS[0] and not has_ffmpeg:
        raise MissingExtraError(
            f"path: {path.name!r} needs the program ffmpeg, which is not on the PATH: install it, or name a .gif"
        )
    return path


def _writer(ending: str, frames_per_second: int) -> Any:
    from matplotlib.animation import FFMpegWriter, PillowWriter

    if ending == ENDINGS[0]:
        return PillowWriter(fps=frames_per_second)
    codec, options = _CODECS[ending]
    # Players of all kinds want even sides and colours at half the resolution. The format is named: the file has another
    # name until it is whole.
    even = ("-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-f", ending[1:])
    return FFMpegWriter(fps=frames_per_second, codec=codec, extra_args=[*options, *even])


def _fitted(frame: Floats) -> Floats:
    """Coordinates centred and scaled to the square from -1 to 1."""
    middle = (frame.max(axis=0) + frame.min(axis=0)) / 2
    half = float(np.abs(frame - middle).max())
    return np.asarray((frame - middle) / (half if half > 0 else 1.0))
