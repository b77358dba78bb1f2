"""New points in production: fit once, save, load elsewhere, and place what arrives, one at a time or all at once.

python examples/new_points_in_production.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np

import lowdim

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
digits = lowdim.datasets.load("digits")
known, arriving = digits.data[:1200], digits.data[1200:]

# In the laboratory: fit, and save. The file holds arrays and JSON, and nothing that could be executed.
fitted = lowdim.TSNE(random_state=0).fit(known)
path = lowdim.save(fitted, folder / "digits.lowdim", force=True)
print(f"Saved {path} ({path.stat().st_size / 1e6:.1f} MB).")

# In production, perhaps another machine: load, and place what arrives.
model = lowdim.load(path)
placed = model.transform(arriving)

# A point's place depends on the point alone: one at a time gives the same rows as all at once.
alone = np.vstack([model.transform(row[None]) for row in arriving[:20]])
print(f"One at a time or all at once: the same to {np.abs(alone - placed[:20]).max():.0e}.")

# What it is good for: the nearest known digit in the embedding tells what the new one is.
distance = np.linalg.norm(placed[:, None] - model.embedding_[None], axis=2)
told = digits.labels[:1200][distance.argmin(axis=1)]
print(
    f"{np.mean(told == digits.labels[1200:]):.1%} of {len(arriving)} new digits are told right by their nearest one."
)

# And what it looks like: known digits small, new ones large.
picture = folder / "new_points_in_production.png"
figure = lowdim.plot(
    model.embedding_, digits.labels[:1200], point_size=3, title="New digits among known ones"
)
lowdim.plot(placed, digits.labels[1200:], ax=figure.axes[0], point_size=22, legend=False)
figure.axes[0].set_title("597 new digits (large) among the 1,200 known ones")
figure.savefig(picture)
print(f"\nLook at {picture}.")
