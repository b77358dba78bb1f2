"""The only place where parameters and data are checked or cast.

Every message has one form: which parameter, what is allowed, what came, what to do.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csr_array

from .data.mapped import in_memory, is_mapped
from .data.rows import Rows
from .errors import InputError, MemoryLimitError
from .memory import available_memory
from .parallel import ALONE, row_blocks
from .records import Floats, format_bytes
from .rules import Either, OneOf, Rule, Whole

SMALLEST, LARGEST = 1e-70, 1e70
"""Sizes of data whose fourth powers, and sums of many of them, float64 can hold."""


def check_parameters(
    owner: str,
    values: Mapping[str, Any],
    rules: Mapping[str, Rule],
    *,
    own_word: Callable[[str, object, Rule], str] = lambda name, value, rule: "",
) -> None:
    """Raise an InputError for the first parameter that its rule does not allow.

    ``own_word`` may say what a value of another library is called here.
    """
    for name, value in values.items():
        rule = rules.get(name)
        if rule is None or rule.allows(value):
            continue
        hint = own_word(name, value, rule) or _nearest_word(value, rule)
        raise InputError(f"{name} of {owner} must be {rule.words}; got {value!r}.{hint}")


def _nearest_word(value: object, rule: Rule) -> str:
    rules = rule.rules if isinstance(rule, Either) else (rule,)
    names = [name for part in rules if isinstance(part, OneOf) for name in part.names]
    close = difflib.get_close_matches(value, names, n=1) if isinstance(value, str) else []
    return f" Did you mean {close[0]!r}?" if close else ""


def check_coordinates(X: Any, n_components: int) -> Floats:
    """Coordinates that are to be turned back into points: finite numbers, a column for each."""
    coordinates = np.asarray(X, dtype=np.float64)
    if coordinates.ndim != 2 or coordinates.shape[1] != n_components:
        raise InputError(
            f"X of inverse_transform must have {n_components} columns, one for each coordinate; got shape "
            f"{coordinates.shape}."
        )
    if not np.isfinite(coordinates).all():
        raise InputError("X of inverse_transform must hold finite numbers; got NaN or infinity.")
    return np.ascontiguousarray(coordinates)


def check_rows(estimator: Any, X: Any, *, reset: bool, at_least: int = 1) -> Rows:
    """Data as rows: finite numbers of any type, dense, memory-mapped or sparse, never copied to another type.

    Frames come in through their column names, which scikit-learn remembers and compares at ``transform``.
    """
    from sklearn.utils.validation import validate_data

    data = loaded(X)
    with ALONE:
        array = validate_data(
            estimator,
            data,
            reset=reset,
            accept_sparse="csr",
            dtype="numeric",
            ensure_min_samples=at_least,
            ensure_all_finite=False,
        )
    return _checked(array, "X", type(estimator).__name__)


def _checked(array: Any, name: str, estimator: str | None = None) -> Rows:
    """What scikit-learn has checked but for its numbers, as rows; those of a mapped file are read some at a time."""
    rows = Rows(_sorted_rows(array) if sparse.issparse(array) else array)
    if rows.is_mapped:
        blocks: Any = (rows.values[part] for part in row_blocks(rows.n_rows, rows.block_rows()))
        _check_sizes(blocks, name, estimator)
    else:
        check_size(array, name, estimator)
    return rows


def check_size(array: Any, name: str, estimator: str | None = None) -> None:
    """Raise where numbers are not finite, or so large or small that float64 cannot hold their fourth powers.

    One walk over the data does for both. Integers are always fine, and so is the size of half and single precision.
    """
    values: NDArray[Any] = array.data if hasattr(array, "indptr") else array
    _check_sizes([values], name, estimator)


def _check_sizes(blocks: Iterable[NDArray[Any]], name: str, estimator: str | None) -> None:
    greatest = 0.0
    for values in blocks:
        if values.dtype.kind != "f":
            return
        largest = _largest(values) if values.dtype.itemsize > 4 else None
        if largest is None or not np.isfinite(largest):
            from sklearn.utils import assert_all_finite

            assert_all_finite(values, input_name=name, estimator_name=estimator)
        greatest = max(greatest, largest or 0.0)
    if greatest and not SMALLEST <= greatest <= LARGEST:
        raise InputError(
            f"{name} must hold numbers whose largest is between {SMALLEST:g} and {LARGEST:g} in size, so that their "
            f"squares and products fit into float64; its largest is {greatest:.3g}. Rescale it, for example "
            f"{name} / {greatest:.3g}."
        )


def _largest(values: NDArray[Any]) -> float:
    """Largest absolute value, some at a time; NaN where there is one."""
    contiguous = values.flags.c_contiguous or values.flags.f_contiguous
    flat = values.reshape(-1, order="A") if contiguous else values
    step = max(1, (1 << 17) // max(1, flat[:1].size))
    parts = [flat[start : start + step] for start in range(0, len(flat), step)]
    # NumPy's own maximum hands NaN on, Python's would not.
    return float(np.max([max(part.max(), -part.min()) for part in parts], initial=0.0))


def view_rows(X: Any) -> Rows:
    """Data as rows for a look at its shape and form, unchecked."""
    rows = Rows(_sorted_rows(loaded(X)) if sparse.issparse(X) else np.asanyarray(X))
    if rows.values.ndim != 2:
        raise InputError(f"X must have two dimensions, rows and columns; got shape {rows.values.shape}.")
    return rows


def check_block(X: Any, name: str) -> Rows:
    """Data beside X, such as a noise sample: the same forms, its own name in messages."""
    from sklearn.utils.validation import check_array

    data = loaded(X)
    with ALONE:
        array = check_array(
            data,
            accept_sparse="csr",
            dtype="numeric",
            ensure_min_samples=2,
            input_name=name,
            ensure_all_finite=False,
        )
    return _checked(array, name)


def loaded(X: Any) -> Any:
    """Sparse matrices in mapped files are read into memory: they are used as a whole, and the file may shrink."""
    matrix: Any = X if sparse.issparse(X) else None
    if matrix is None or matrix.format not in ("csr", "csc"):
        return X
    parts = (matrix.data, matrix.indices, matrix.indptr)
    if not any(map(is_mapped, parts)):
        return X
    return type(matrix)(tuple(map(in_memory, parts)), shape=matrix.shape)


def _sorted_rows(matrix: Any) -> csr_array:
    rows = csr_array(matrix)
    if not rows.has_sorted_indices:
        rows = rows.copy()
        rows.sort_indices()
    return rows


def check_pairwise(estimator: Any, X: Any, *, what: str, reset: bool, at_least: int = 2) -> Rows:
    """A matrix between points: square at ``fit``, new points by fitted points at ``transform``.

    ``what`` names the entries in messages: distances, edge lengths, affinities, kernel values.
    """
    rows = check_rows(estimator, X, reset=reset, at_least=at_least if reset else 1)
    if reset and rows.n_rows != rows.n_columns:
        raise InputError(
            f"X must be a square matrix of {what} between all points; got shape {rows.shape}. "
            "Give the full matrix, or give the points themselves with another metric."
        )
    return rows


def check_dense(rows: Rows, why: str) -> None:
    """Raise an InputError for a sparse matrix where the method needs every entry."""
    if rows.is_sparse:
        raise InputError(
            f"X must be a dense array: {why}; got a sparse matrix. Give X.toarray() if zeros mean zero."
        )


def check_distances(rows: Rows, *, what: str, reset: bool) -> None:
    """Distances, lengths and affinities are never negative and, at ``fit``, symmetric with a zero diagonal."""
    values = rows.values
    lowest = _lowest(rows)
    if lowest < 0:
        raise InputError(
            f"X must hold {what} >= 0; its smallest entry is {lowest:g}. Check how it was computed."
        )
    if not reset:
        return
    if isinstance(values, csr_array):
        return
    places = np.arange(rows.n_rows)
    diagonal = values[places, places]
    if np.any(diagonal != 0):
        worst = int(np.argmax(np.abs(diagonal)))
        raise InputError(
            f"X must hold {what} with a zero diagonal; X[{worst}, {worst}] is {diagonal[worst]:g}. "
            "Set the diagonal to 0, or use metric='graph' if these are affinities."
        )
    check_symmetric(values, what=what)


def _lowest(rows: Rows) -> float:
    """The smallest entry that is held; 0 where none is."""
    if isinstance(rows.values, csr_array):
        return float(rows.values.data.min(initial=0))
    parts = row_blocks(rows.n_rows, rows.block_rows())
    return min((float(rows.values[part].min(initial=0)) for part in parts), default=0.0)


def check_graph(rows: Rows, *, what: str, reset: bool) -> Rows:
    """A weighted or unweighted graph as sparse rows without self-loops: values >= 0 and, at ``fit``, undirected."""
    graph = rows.compressed()
    if graph.nnz and (lowest := graph.data.min()) < 0:
        raise InputError(
            f"X must hold {what} >= 0; its smallest entry is {lowest:g}. Check how it was computed."
        )
    if reset:
        gap = abs(graph - graph.T)
        if gap.nnz and gap.data.max() > 1e-6 * graph.data.max():
            raise InputError(
                f"X must be an undirected graph (a symmetric matrix of {what}); X and X.T differ by up to "
                f"{gap.data.max():g}. Symmetrise it first, for example X.maximum(X.T) or (X + X.T) / 2."
            )
        entries = graph.tocoo()
        off = entries.row != entries.col
        graph = csr_array((entries.data[off], (entries.row[off], entries.col[off])), shape=graph.shape)
        graph.sort_indices()
    return Rows(graph)


def check_symmetric(values: NDArray[Any], *, what: str, tolerance: float = 1e-6) -> None:
    """Raise an InputError where a dense matrix differs from its transpose by more than rounding, by row blocks."""
    blocks = [slice(start, start + 512) for start in range(0, values.shape[0], 512)]
    scale = max((float(np.abs(values[block]).max(initial=0)) for block in blocks), default=0.0)
    for block in blocks:
        start = block.start
        gap = np.abs(values[block].astype(np.float64) - values[:, block].T)
        if gap.size and gap.max() > tolerance * scale:
            i, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
            raise InputError(
                f"X must be a symmetric matrix of {what}; X[{start + i}, {j}] = {values[start + i, j]:g} but "
                f"X[{j}, {start + i}] = {values[j, start + i]:g}. Symmetrise it first, for example (X + X.T) / 2."
            )


def check_components(n_components: int, available: int, why: str) -> None:
    """Raise an InputError when more components are asked for than the problem has."""
    if n_components > available:
        raise InputError(
            f"n_components must be at most {available}: {why}; got {n_components}. Ask for fewer, or give more data."
        )


def check_neighbors(n_neighbors: int, n_points: int, collapsed: int = 0) -> None:
    """Raise an InputError when there are not more points than neighbours asked for."""
    if n_neighbors >= n_points:
        distinct = f" distinct points ({collapsed} duplicates were collapsed)" if collapsed else " points"
        raise InputError(
            f"n_neighbors must be less than the number of points; got n_neighbors={n_neighbors} with "
            f"{n_points}{distinct}. Use n_neighbors <= {n_points - 1}."
        )


def check_distinct(n_distinct: int, n_rows: int) -> None:
    """Raise an InputError when all rows are one point."""
    if n_distinct == 1:
        raise InputError(
            f"X must hold at least 2 distinct points; all its {n_rows} rows are equal. There is nothing to embed."
        )


def check_clusters(n_clusters: int, n_rows: int) -> None:
    """Raise an InputError when there are more groups than points."""
    if n_clusters > n_rows:
        raise InputError(
            f"n_clusters must be at most the number of points; got n_clusters={n_clusters} with n_samples={n_rows}. "
            "Ask for fewer."
        )


def check_finite(values: Floats, stage: str) -> Floats:
    """What a stage hands on must be finite: NaN never comes out."""
    if not np.all(np.isfinite(values)):
        raise InputError(
            f"{stage} gave {int(np.sum(~np.isfinite(values)))} values that are not finite. The data's scale is "
            "probably beyond what float64 can square: rescale the columns, for example by their standard deviation."
        )
    return values


def parse_bytes(limit: int | float | str | None) -> int | None:
    """Bytes that ``memory_limit`` stands for: a number, or words such as '4 GB' and '512MiB'."""
    if limit is None:
        return None
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]?)(i?)b?\s*", limit.lower())
        if match is None:
            raise InputError(f"memory_limit must be bytes or a size such as '4 GB'; got {limit!r}.")
        base = 1024 if match[3] else 1000
        return int(float(match[1]) * base ** " kmgt".index(match[2] or " "))
    return int(limit)


def check_memory(needed: int, limit: int | float | str | None, *, what: str, instead: str) -> None:
    """Raise a MemoryLimitError before work that would need more than the limit, or than the machine has free."""
    allowed = parse_bytes(limit)
    source = "memory_limit"
    if allowed is None:
        allowed, source = available_memory(), "this machine's free memory"
    if allowed is not None and needed > allowed:
        raise MemoryLimitError(
            f"{what} needs at least {format_bytes(needed)}, more than {source} of {format_bytes(allowed)}. {instead}"
        )


def make_generator(random_state: Any) -> np.random.Generator:
    """A generator of its own from a seed, a Generator, a RandomState or None."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1))
    if random_state is None or Whole(0).allows(random_state):
        return np.random.default_rng(random_state)
    raise InputError(
        f"random_state must be a whole number >= 0, a NumPy Generator or RandomState, or None; got {random_state!r}."
    )


def listed(items: Iterable[object], most: int = 5) -> str:
    """The first few items of a list for a message: 3, 5, 8, ..."""
    shown = [str(item) for item in items]
    return ", ".join(shown[:most]) + (", ..." if len(shown) > most else "")
