"""Which method to take: a line for each."""

from __future__ import annotations

from .introspection import methods

KEEPS = {
    "tsne": "neighbours stay neighbours: the usual picture of groups",
    "laplacian-eigenmaps": "who is close to whom: smooth curves and branches, large data",
    "isomap": "distances along a curved surface",
    "lle": "how each point is made of its neighbours; also modified, Hessian, LTSA",
    "spectral-clustering": "groups, and coordinates in which they lie apart",
    "elastic-embedding": "as tsne, by springs and repulsion; --lam sets the width",
    "symmetric-sne": "as tsne, with Gaussian tails: tighter pictures",
    "sne": "the first of these, with a probability for each point",
    "pca": "variance: the quickest, linear, for a first look",
    "classical-mds": "distances of any --metric",
    "kernel-pca": "inner products of a --kernel",
    "oriented-pca": "signal against --noise, linear",
}
"""What each method keeps, in the order in which to consider them."""


def listed_methods(default: str) -> str:
    """The methods, one to a line."""
    names = [*KEEPS, *(name for name in methods() if name not in KEEPS)]
    width = max(map(len, names)) + 2
    lines = [
        f"  {name:<{width}}{KEEPS.get(name, methods()[name].title)}{' (default)' if name == default else ''}"
        for name in names
    ]
    return "Methods, and what they keep:\n" + "\n".join(lines)
