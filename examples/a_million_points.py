"""A million points: digits from a file that need not fit into memory, embedded by a thousand landmarks.

    python examples/a_million_points.py [FOLDER] [N]

N is 20,000 unless said otherwise, so that a first try takes seconds: ask for 1000000 to see the real thing.
"""

import sys
import time
from pathlib import Path

import lowdim

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
n_points = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000

# Digits without end: each one bent a little, written block by block, and read back as a memory map.
began = time.perf_counter()
digits = lowdim.datasets.deformed_digits(n_points, path=folder / "digits.npy", overwrite=True, random_state=0)
print(f"{n_points:,} digits of {digits.data.shape[1]} pixels on disk in {time.perf_counter() - began:.1f} s.")

# Locally linear landmarks: the eigenproblem is solved for the landmarks, and every other point is a blend of them.
n_landmarks = min(1000, n_points // 10)
model = lowdim.LaplacianEigenmaps(2, n_neighbors=10, solver=lowdim.LLL(n_landmarks))

# What would this cost? Ask before you wait.
print(model.plan(digits.data))

began = time.perf_counter()
model.fit(digits.data)
seconds = time.perf_counter() - began
print(f"\nEmbedded in {seconds:.1f} s:")
for stage in model.report_.stages:
    print(f"    {'  ' * stage.depth}{stage.name:<16} {stage.seconds:8.2f} s")

picture = folder / "a_million_points.png"
lowdim.plot(
    model.embedding_, digits.labels, title=f"{n_points:,} digits, {n_landmarks:,} landmarks", path=picture
)
print(f"\nLook at {picture}.")
if n_points < 1_000_000:
    print(f"This was {n_points:,} points, not a million: python {Path(__file__).name} {folder} 1000000")
