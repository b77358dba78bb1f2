"""Writes the table of colours: ``python -m tools.make_palette``.

Glasbey's way (Glasbey et al. 2007): each colour is the one of a grid of sRGB that is farthest from all before it, in
OKLAB (Ottosson 2020), in which distances are those that people see. Only colours with a contrast of at least 3.1:1 to
their ground, and with some chroma, are looked at: greys are kept for what is missing. The distances of the first ten
are also those seen with protanopia and deuteranopia (Machado et al. 2009). The colours for a dark ground are found in
the same way, then put in an order in which each, ten at a time, resembles its kin for a light one. Beside them stands
the scale of quantities, viridis (van der Walt and Smith 2015), so that the live page needs no Matplotlib.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from lowdim.plotting.palette import DARK_GROUND, DARK_MISSING, LIGHT_GROUND, MISSING, contrast, to_oklab

Floats = NDArray[np.float64]

COUNT = 100
LEVELS = 40
CONTRAST = 3.1
CHROMA = 0.055
DARKEST = 0.27
FIRST = 10
"""Colours that are also told apart by those who do not see red or green."""
SEEN = 2.2
"""By how much distances are longer that they see."""
CALM = 20
"""Colours that are neither nearly black nor glaring: so many classes are common."""
# Machado, Oliveira and Fernandes 2009, table 1, severity 1.
PROTANOPIA = np.array(
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
)
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)
TARGET = Path(__file__).parents[1] / "src/lowdim/plotting/palette_table.py"
HEAD = '''"""Colours of classes on light and dark ground, and of quantities, made by ``tools/make_palette.py``."""

'''


def candidates(ground: tuple[float, float, float]) -> Floats:
    """Colours that stand out from a ground and are no greys."""
    levels = np.linspace(0.0, 1.0, LEVELS)
    grid = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1).reshape(-1, 3)
    grid = np.round(grid * 255) / 255
    places = to_oklab(grid)
    usable = contrast(grid, ground) >= CONTRAST
    usable &= (np.hypot(places[:, 1], places[:, 2]) >= CHROMA) & (places[:, 0] >= DARKEST)
    return grid[usable]


def seen(colours: Floats, matrix: Floats) -> Floats:
    """OKLAB of what somebody sees who lacks a kind of cone."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    dimmed = np.clip(linear @ matrix.T, 0.0, 1.0)
    return to_oklab(np.where(dimmed <= 0.0031308, dimmed * 12.92, 1.055 * dimmed ** (1 / 2.4) - 0.055))


def chosen(ground: tuple[float, float, float], missing: tuple[float, float, float]) -> Floats:
    """So many colours, each as far as can be from those before, from the ground and from what is missing."""
    grid = candidates(ground)
    views = [to_oklab(grid), SEEN * seen(grid, PROTANOPIA), SEEN * seen(grid, DEUTERANOPIA)]
    start = to_oklab(np.array([ground, missing]))
    nearest = np.linalg.norm(views[0][:, None] - start[None], axis=2).min(axis=1)
    chroma = np.hypot(views[0][:, 1], views[0][:, 2])
    calm = (views[0][:, 0] > 0.4) & (views[0][:, 0] < 0.86) & (chroma > 0.09) & (chroma < 0.215)
    # The first is a blue, the colour that most people like and everybody sees.
    first = int(np.argmin(np.linalg.norm(grid - np.array([0.10, 0.42, 0.85]), axis=1)))
    found = [first]
    usual = np.minimum(nearest, np.linalg.norm(views[0] - views[0][first], axis=1))
    careful = np.minimum(
        usual, np.min([np.linalg.norm(view - view[first], axis=1) for view in views], axis=0)
    )
    while len(found) < COUNT:
        far = careful if len(found) < FIRST else usual
        place = int((np.where(calm, far, 0.0) if len(found) < CALM else far).argmax())
        found.append(place)
        usual = np.minimum(usual, np.linalg.norm(views[0] - views[0][place], axis=1))
        all_ways = np.min([np.linalg.norm(view - view[place], axis=1) for view in views], axis=0)
        careful = np.minimum(careful, all_ways)
    return grid[found]


def like(colours: Floats, model: Floats) -> Floats:
    """The colours, ten at a time in the order in which each is most like one of the model in hue."""
    ordered = []
    for start in range(0, len(colours), FIRST):
        part = colours[start : start + FIRST]
        ours, theirs = (to_oklab(each)[:, 1:] for each in (part, model[start : start + FIRST]))
        cost = np.linalg.norm(theirs[:, None] - ours[None], axis=2)
        ordered.append(part[linear_sum_assignment(cost)[1]])
    return np.vstack(ordered)


def main() -> None:
    """Write the table."""
    from matplotlib import colormaps

    light = chosen(LIGHT_GROUND, MISSING)
    dark = like(chosen(DARK_GROUND, DARK_MISSING), light)
    text = HEAD
    viridis = colormaps["viridis"](np.arange(256))[:, :3]
    for name, colours in (("LIGHT", light), ("DARK", dark), ("VIRIDIS", viridis)):
        codes = [bytes(np.round(row * 255).astype(np.uint8)).hex() for row in colours]
        lines = [" ".join(codes[at : at + 12]) for at in range(0, len(codes), 12)]
        text += f'{name} = """\n' + "\n".join(lines) + '\n"""\n'
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
