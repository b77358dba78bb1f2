"""What ``compare`` found: how far embeddings of the same points agree, and which points moved."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ..core.records import Floats
from ..core.rules import OneOf
from ..errors import InputError
from ..plotting.labels import Named
from ..plotting.labels import column as column_of
from ..plotting.page import Content, Page, write_pages_beside
from ..plotting.static import plot_gallery
from ..validation import check_parameters

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = ("agreement", "recall", "moved")
MOST_AXES = 3
"""Dimensions of a map on a page."""
MOVED = 0.5
"""Widths of a picture beyond which a point has moved to another part of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Embeddings of the same points, each pair of them compared.

    Attributes
    ----------
    names
        The embeddings, as they were given; the first is the one that the others are turned onto.
    n_points, n_neighbors
        Points, and neighbours k of each.
    recall
        Share of the k nearest in the data that each embedding shows near, E x N.
    agreement
        For each pair (in the order of `pairs`) and each point: share of the k shown nearest that both show, P x N.
    chance
        Agreement of two pictures that have nothing to do with each other, k / (N - 1).
    error
        For each pair, |aligned - other| / |other| after the best turn, scale and shift: 0 the same, near 1 unrelated.
    moved
        For each pair and point: how far it is from its place in the other after that, in root mean square widths of
        the picture, P x N.
    aligned
        The coordinates turned onto the first, E arrays N x d.
    """

    names: tuple[str, ...]
    n_points: int
    n_neighbors: int
    recall: Floats
    agreement: Floats
    error: Floats
    moved: Floats
    aligned: tuple[Floats, ...]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every two embeddings."""
        return list(combinations(self.names, 2))

    @property
    def chance(self) -> float:
        """Agreement of two pictures that have nothing to do with each other."""
        return self.n_neighbors / (self.n_points - 1)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, one value a point each."""
        of_pairs = [
            f"{kind}: {first}, {second}" for first, second in self.pairs for kind in ("agreement", "moved")
        ]
        return [*(f"recall: {name}" for name in self.names), *of_pairs]

    def __getitem__(self, name: str) -> Floats:
        """A column by its name."""
        if name not in self.column_names:
            raise KeyError(f"{name!r} is no column; there are {'; '.join(self.column_names)}.")
        kind, _, which = name.partition(": ")
        if kind == "recall":
            of_embedding: Floats = self.recall[self.names.index(which)]
            return of_embedding
        place = [f"{first}, {second}" for first, second in self.pairs].index(which)
        of_pair: Floats = (self.agreement if kind == "agreement" else self.moved)[place]
        return of_pair

    def keys(self) -> list[str]:
        """Names of the columns, so that ``dict(found)`` has them all."""
        return self.column_names

    def to_frame(self) -> Any:
        """The columns as a data frame of pandas, one row a point."""
        import pandas as pd

        return pd.DataFrame({name: self[name] for name in self.column_names})

    def as_dict(self) -> dict[str, Any]:
        """What holds of the pictures as a whole, in types that JSON knows."""
        return {
            "n_points": self.n_points,
            "n_neighbors": self.n_neighbors,
            "chance": self.chance,
            "recall": {name: float(row.mean()) for name, row in zip(self.names, self.recall, strict=True)},
            "pairs": [
                {
                    "first": first,
                    "second": second,
                    "agreement": float(self.agreement[place].mean()),
                    "error": float(self.error[place]),
                    "moved": float((self.moved[place] > MOVED).mean()),
                }
                for place, (first, second) in enumerate(self.pairs)
            ],
            "summary": self.summary(),
        }

    def summary(self) -> str:
        """In one sentence what the pictures have in common."""
        means, best = self.agreement.mean(axis=1), self.names[int(self.recall.mean(axis=1).argmax())]
        nearest, farthest = self.pairs[int(means.argmax())], self.pairs[int(means.argmin())]
        far = float((self.moved[int(means.argmin())] > MOVED).mean())
        shared = f"{nearest[0]} and {nearest[1]} share {_percent(means.max())}"
        if len(means) > 1:
            shared += f", more than any others, and {farthest[0]} and {farthest[1]} {_percent(means.min())}, the least"
        kept = f"{best} keeps most of the data's neighbours ({_percent(self.recall.mean(axis=1).max())})"
        return (
            f"Of {self.n_neighbors} neighbours {shared}; by chance it would be {_percent(self.chance)}; {_percent(far)}"
            f" of the points are in another part of the picture, and {kept}."
        )

    def __str__(self) -> str:
        """The sentence, then a line for each embedding and each pair."""
        width = max(len(f"{first} – {second}") for first, second in self.pairs)
        lines = [self.summary(), "", f"  {'embedding':<{width}}  recall"]
        lines += [
            f"  {name:<{width}}  {row.mean():6.3f}" for name, row in zip(self.names, self.recall, strict=True)
        ]
        lines += ["", f"  {'pair':<{width}}  agreement  error  moved"]
        for place, (first, second) in enumerate(self.pairs):
            far = (self.moved[place] > MOVED).mean()
            lines.append(
                f"  {f'{first} – {second}':<{width}}  {self.agreement[place].mean():9.3f}  {self.error[place]:5.3f}  "
                f"{100 * far:.3g} %"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.names)}: {self.n_points:,} points>"

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        colour: str = "agreement",
        title: str = "",
        labels: ArrayLike | None = None,
    ) -> Figure | Page:
        """Draw the embeddings side by side, turned onto the first.

        Parameters
        ----------
        path
            Where to write the picture: .png, .pdf, .svg or another format of Matplotlib; or .html for an interactive
            page, on which points that are selected in one map are selected in all.
        colour
            ``"agreement"``: of each point, averaged over the pairs; ``"moved"``: the farthest of the pairs;
            ``"recall"``: averaged over the embeddings. On a page the others can be chosen.
        title
            Above the picture.
        labels
            A label for each point, to colour a page by, too.
        """
        check_parameters("plot", {"colour": colour}, {"colour": OneOf(*COLOURS)})
        values = {
            "agreement": self.agreement.mean(axis=0),
            "moved": self.moved.max(axis=0),
            "recall": self.recall.mean(axis=0),
        }
        pictures = dict(zip(self.names, self.aligned, strict=True))
        if path is not None and os.fspath(path).lower().endswith((".html", ".htm")):
            return self._page(path, pictures, values, colour, title, labels)
        return plot_gallery(
            pictures, values[colour], path=path, title=title, columns=min(len(pictures), 4), continuous=True
        )

    def _page(
        self,
        path: str | os.PathLike[str],
        pictures: dict[str, Floats],
        values: dict[str, Floats],
        colour: str,
        title: str,
        labels: ArrayLike | None,
    ) -> Page:
        widest = pictures[self.names[0]].shape[1]
        if widest > MOST_AXES:
            raise InputError(
                f"A page shows maps of at most {MOST_AXES} dimensions; got embeddings of {widest}. Compare their first "
                "ones."
            )
        columns = {name: Named(column, name) for name, column in values.items() if name != colour}
        if labels is not None:
            columns["label"] = column_of(labels, "label", "labels")
        contents = {
            name: Content.of(
                points, Named(values[colour], colour), title=title, columns=columns, continuous=True
            )
            for name, points in pictures.items()
        }
        return write_pages_beside(path, contents, title=title)


def _percent(share: float) -> str:
    return f"{100 * float(share):.3g} %"
