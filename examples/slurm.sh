#!/bin/bash
#SBATCH --job-name=lowdim
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --time=02:00:00
# Rows of a file that no memory holds, embedded by the workers of one job:
#
#     sbatch examples/slurm.sh big.zarr map.zarr /shared/folder/run
#
# All three lie where every node sees them. The third is where the work is kept: the same job again goes on from there.
# With --ntasks-per-node=1 each node has one nanny with as many workers as it has processors, of one thread each.
set -euo pipefail
rows=$1 coordinates=$2 store=$3

# One thread of BLAS for each worker: they are as many as the processors.
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
found=$(mktemp -p "$(dirname "$store")" scheduler-XXXXXX.json)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -f "$found"' EXIT

# The scheduler is on the first node, and writes its address into a file; a worker on each node reads it there.
rm "$found"
dask scheduler --port 0 --no-dashboard --scheduler-file "$found" &
until [ -s "$found" ]; do sleep 1; done
srun dask worker --scheduler-file "$found" --nworkers "$SLURM_CPUS_PER_TASK" --nthreads 1 --no-dashboard &

address=$(python -c 'import json, sys; print(json.load(open(sys.argv[1]))["address"])' "$found")
lowdim embed "$rows" --method laplacian-eigenmaps --solver lll --landmarks 10000 \
  --cluster "$address" --checkpoint "$store" -o "$coordinates"
