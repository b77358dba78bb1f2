"""A first embedding: handwritten digits, 64 numbers each, as a picture that anyone can read.

python examples/first_embedding.py [FOLDER]
"""

import sys
from pathlib import Path

import lowdim

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

# Any array of numbers will do: one row for each thing, one column for each thing measured.
digits = lowdim.datasets.load("digits")

# Every method is a class with the same handful of verbs: fit, transform, plan, ...
model = lowdim.TSNE(random_state=0).fit(digits.data)

# What was done, what "auto" chose and why, and where the seconds went.
print(model.report_)

# How far to trust the picture: are points that are shown near really near?
print(lowdim.score(digits.data, model.embedding_, digits.labels))

picture = folder / "first_embedding.png"
lowdim.plot(model.embedding_, digits.labels, title="1,797 digits by t-SNE", path=picture)
print(f"\nLook at {picture}: every colour is a digit, and the method never saw which is which.")
