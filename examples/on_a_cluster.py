"""Rows in files, embedded by the workers of a cluster of Dask: here two processes of this machine.

    python examples/on_a_cluster.py [FOLDER] [N]

N is 200,000 unless said otherwise. On other machines the same lines take a Client of their scheduler;
examples/slurm.sh is a job for Slurm.
"""

import sys
from pathlib import Path

import numpy as np

import lowdim


def main(folder: Path, n_points: int) -> None:
    """Write a Swiss roll into ten files, embed all of it, draw it."""
    from distributed import Client, LocalCluster

    roll = lowdim.datasets.swiss_roll(n_points, noise=0.1, aspect=1.5, random_state=0)
    (folder / "rows").mkdir(exist_ok=True)
    for part, rows in enumerate(np.array_split(roll.data, 10)):
        np.save(folder / "rows" / f"part-{part}.npy", rows)
    rows = lowdim.shards(folder / "rows" / "*.npy")

    # All workers must see the folder of `checkpoint`, through which they hand results to each other.
    solver = lowdim.LLL(n_points // 100)
    model = lowdim.LLE(variant="ltsa", n_neighbors=12, solver=solver, checkpoint=folder / "run")
    print(model.plan(rows))
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        lowdim.using(client),
    ):
        model.fit(rows)
    figures = model.report_.figures
    print(f"\n{figures['tasks']} tasks, {figures['tasks_done_again']} of them done again.")

    picture = folder / "on_a_cluster.png"
    title = f"A Swiss roll of {n_points:,} points, by two workers"
    lowdim.plot(model.embedding_, roll.parameters[:, 0], title=title, path=picture)
    print(f"Look at {picture}.")


# Workers are new processes, which read this file as well: only the first of them may begin the work.
if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."), int(sys.argv[2]) if len(sys.argv) > 2 else 200_000)
