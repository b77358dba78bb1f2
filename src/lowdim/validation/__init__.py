"""The only place where parameters and data are checked or cast.

Every message has one form: which parameter, what is allowed, what came, what to do.
"""

from __future__ import annotations

from .forms import take
from .labels import is_nothing, missing, take_entries, take_labels
from .pairwise import (
    check_dense,
    check_dissimilarities,
    check_distances,
    check_graph,
    check_not_all_zero,
    check_pairwise,
    check_symmetric,
)
from .parameters import (
    check_clusters,
    check_components,
    check_distinct,
    check_finite,
    check_memory,
    check_neighbors,
    check_parameters,
    parse_bytes,
)
from .points import (
    check_block,
    check_coordinates,
    check_numbers,
    check_rows,
    copied_bytes,
    loaded,
    read_array,
    view_rows,
)
from .relations import check_relations
from .row_numbers import check_left
from .shards import check_finite_rows, check_sample, check_shard, check_source

__all__ = [
    "check_block",
    "check_clusters",
    "check_components",
    "check_coordinates",
    "check_dense",
    "check_dissimilarities",
    "check_distances",
    "check_distinct",
    "check_finite",
    "check_finite_rows",
    "check_graph",
    "check_left",
    "check_memory",
    "check_neighbors",
    "check_not_all_zero",
    "check_numbers",
    "check_pairwise",
    "check_parameters",
    "check_relations",
    "check_rows",
    "check_sample",
    "check_shard",
    "check_source",
    "check_symmetric",
    "copied_bytes",
    "is_nothing",
    "loaded",
    "missing",
    "parse_bytes",
    "read_array",
    "take",
    "take_entries",
    "take_labels",
    "view_rows",
]
