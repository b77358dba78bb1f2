"""Choose parameters: find how many neighbours and how many dimensions suit these data.

python examples/choose_parameters.py [FOLDER]
"""

import sys
from pathlib import Path

import lowdim

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
digits = lowdim.datasets.load("digits")

# Before any embedding: how many dimensions do the data have?
print(lowdim.estimate_dimension(digits.data))

# Every combination, judged by labels that the embedding has not seen: some rows hide them, others are new altogether.
# Neighbours are searched once for the whole grid, and fits of fewer dimensions are read off those of more.
found = lowdim.sweep(
    lowdim.LaplacianEigenmaps(),
    {"n_neighbors": [10, 20, 40, 80], "n_components": [2, 5, 10, 20]},
    digits.data,
    digits.labels,
    seeds=3,
)
print(found)

# Which point is best, and the estimator that it makes, ready to use.
best = found.best_estimator(digits.data)
print(f"\nThe best is {found.best}: {best}")

picture = folder / "choose_parameters.png"
found.plot(picture, title="1-NN error of digits in a Laplacian eigenmap")
print(f"Look at {picture}: is the best point a valley, or an accident?")
