"""Every form in which data comes, as one array or sparse matrix with the names of its columns; or what to do instead.

Libraries are told by the name of the class: none is imported for it. Data that would first have to be computed or
loaded (dask, lazy frames, files that are open) is refused with the call that does it, since only the caller knows
whether it fits into memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..core.messages import listed
from ..core.records import format_bytes
from ..errors import InputError, InputTypeError
from .cells import check_cells, check_kind, shown
from .frames import from_arrow, from_pandas

Values = Any
"""A NumPy array of any dimensions, or a SciPy sparse matrix."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What was taken from the caller's object.

    ``columns`` are the names of the columns where it has any, ``source`` is what holds the numbers in the caller's
    hands: an array or matrix that ``values`` may share its memory with.
    """

    values: Values
    columns: NDArray[Any] | None = None
    source: Any = None


def take(X: Any, name: str) -> Taken:
    """Real numbers out of whatever came, of at most 64 bits, unchanged in type and uncopied where that can be.

    ``name`` is what messages call the data. Dimensions are for the caller to check.
    """
    for (library, classes), reader in _READERS.items():
        if is_of(X, library, *classes):
            taken = reader(X, name)
            break
    else:
        taken = _from_anything(X, name)
    check_kind(taken.values.dtype, name)
    return _in_double(taken)


def _in_double(taken: Taken) -> Taken:
    """Wider numbers as float64: their bytes hold gaps in which anything may stand, and no kernel knows them."""
    kind = taken.values.dtype
    if kind.kind != "f" or kind.itemsize <= 8:
        return taken
    with np.errstate(over="ignore"):  # infinity is refused by name
        return Taken(taken.values.astype(np.float64), taken.columns)


def is_of(X: Any, library: str, *classes: str) -> bool:
    """Whether an object is of a class of a library, or of one derived from it."""
    return any(
        kind.__name__ in classes and kind.__module__.partition(".")[0] == library for kind in type(X).__mro__
    )


def is_series(X: Any) -> bool:
    """Whether an object is one column of a data frame."""
    return is_of(X, "pandas", "Series") or is_of(X, "polars", "Series")


def _from_anything(X: Any, name: str) -> Taken:
    if isinstance(X, np.ndarray):
        return _from_numpy(X, name)
    if sparse.issparse(X):
        return Taken(X, source=X)
    if X is None:
        raise InputTypeError(f"{name} must be data, points as rows; got None. Was the result of a call lost?")
    if isinstance(X, str | os.PathLike):
        raise InputTypeError(
            f"{name} must be data, points as rows; got the path {shown(os.fspath(X))}. Read the file first: "
            f"lowdim.data.files.read({shown(os.fspath(X))}).X"
        )
    if isinstance(X, Mapping):
        keys = [str(key) for key in X]
        which = "data" if "data" in keys else keys[0] if keys else "..."
        raise InputTypeError(
            f"{name} must be data, points as rows; got a {type(X).__name__} with the keys "
            f"{listed(map(repr, keys))}. Give one of its arrays, such as {name}[{which!r}]."
        )
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        return Taken(*from_arrow(X, name))
    if hasattr(X, "__dlpack_device__"):
        return _from_array_api(X, name)
    return _from_objects(X, name)


def _from_numpy(X: NDArray[Any], name: str) -> Taken:
    if isinstance(X, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(X)
        if mask.any():
            place = tuple(int(axis) for axis in np.argwhere(mask)[0])
            raise InputError(
                f"{name} must have a number in every place; {int(mask.sum())} are masked, the first is "
                f"{name}{list(place)}. Remove those rows, or fill them: {name}.filled(value)."
            )
        X = np.asarray(X.data)
    plain = X if X.dtype.kind != "O" else check_cells(X, name)
    return Taken(np.asarray(plain) if isinstance(plain, np.matrix) else plain, source=X)


def _from_objects(X: Any, name: str) -> Taken:
    """Lists of lists, and objects that NumPy can read."""
    if hasattr(X, "fit") and hasattr(X, "get_params"):
        raise InputTypeError(
            f"{name} must be data, points as rows; got the estimator {type(X).__name__}. Fit it, and give its "
            "embedding_."
        )
    if not (isinstance(X, list | tuple | range | int | float | complex | np.generic) or _is_array_like(X)):
        instead = "numpy.array(list(...))" if isinstance(X, Iterator) else "numpy.asarray(...)"
        raise InputTypeError(
            f"{name} must be data, points as rows: an array, a sparse matrix, a data frame or a list of lists; got an "
            f"object of type {type(X).__name__}. Convert it: {instead}."
        )
    try:
        array = np.asarray(X)
    except (TypeError, ValueError, RuntimeError) as error:
        _refuse_ragged(X, name)
        raise InputTypeError(
            f"{name} of type {type(X).__name__} cannot be read as an array ({error}). Convert it to a NumPy array."
        ) from error
    return _from_numpy(array, name)


def _is_array_like(X: Any) -> bool:
    ways = ("__array__", "__array_interface__", "__dlpack__")
    return isinstance(X, memoryview | bytearray) or any(hasattr(X, way) for way in ways)


def _refuse_ragged(X: Any, name: str) -> None:
    """Raise an InputError where rows of a list have different lengths."""
    if not isinstance(X, list | tuple) or not X:
        return
    lengths = [len(row) if hasattr(row, "__len__") and not isinstance(row, str) else -1 for row in X]
    for place, length in enumerate(lengths):
        if length != lengths[0]:
            found, first = (f"{n} entries" if n >= 0 else "no entries" for n in (length, lengths[0]))
            raise InputError(
                f"{name} must have rows of one length; row {place} has {found} where row 0 has {first}. Fill or remove "
                "the rows that differ."
            )


def _from_dataset(X: Any, name: str) -> Taken:
    """Our own data sets, and the tables that `lowdim.data.files.read` gives."""
    if not hasattr(X, "X"):
        return _from_numpy(X.data, name)
    columns = None if X.feature_names is None else np.array(X.feature_names, dtype=object)
    return Taken(X.X, columns, X.X)


def _from_anndata(X: Any, name: str) -> Taken:
    """``X`` of the object: what `lowdim embed file.h5ad` takes as well."""
    matrix = X.X
    if matrix is None:
        others = listed(f"{name}.obsm[{key!r}]" for key in X.obsm.keys())  # noqa: SIM118
        raise InputError(
            f"{name} is an AnnData without X. Give one of its matrices: {others or 'it has none'}."
        )
    if getattr(X, "isbacked", False):
        raise InputTypeError(
            f"{name} is an AnnData whose X stays in its file. Read it first: {name}.to_memory().X, or a part: "
            f"{name}[:1000].to_memory().X."
        )
    taken = take(matrix, f"{name}.X")
    return Taken(taken.values, np.array([str(gene) for gene in X.var_names], dtype=object), taken.source)


def _from_xarray(X: Any, name: str) -> Taken:
    if is_of(X.variable._data if hasattr(X, "variable") else None, "dask", "Array"):
        return _refuse_dask(X, name)
    return _from_numpy(X.values, name)


def _refuse_xarray_dataset(X: Any, name: str) -> Taken:
    variables = [str(key) for key in X.data_vars]
    raise InputTypeError(
        f"{name} must be one array; got an xarray.Dataset with the variables "
        f"{listed(map(repr, variables)) or 'none'}. Choose one: {name}[{variables[0] if variables else 'name'!r}]; or, "
        f"if each is a column, give {name}.to_dataframe()."
    )


def _refuse_dask(X: Any, name: str) -> Taken:
    size = format_bytes(X.nbytes) if hasattr(X, "nbytes") and np.isfinite(X.nbytes) else "unknown size"
    raise InputTypeError(
        f"{name} is a dask collection of {size}, and would have to be loaded whole. Give {name}.compute() if it fits "
        "into memory, or some of its rows; fit and transform of PCA take it as it is, and transform of every estimator."
    )


def _refuse_shards(X: Any, name: str) -> Taken:
    raise InputTypeError(
        f"{name} comes in shards, {X.n_samples} x {X.n_features} of {X.dtype} ({format_bytes(X.nbytes)}), and would "
        f"have to be loaded whole. Give numpy.asarray({name}) if it fits into memory, or some of its rows: "
        f"{name}.rows(0, 1000)."
    )


def _refuse_lazy(X: Any, name: str) -> Taken:
    raise InputTypeError(
        f"{name} is a polars LazyFrame, whose rows are not computed yet. Give {name}.collect()."
    )


def _refuse_open_file(X: Any, name: str) -> Taken:
    raise InputTypeError(
        f"{name} is an array in an open file ({_library(X)}, shape {tuple(X.shape)}), and would have to be "
        f"loaded whole. Give {name}[:], or some rows of it: {name}[:1000]."
    )


def _from_torch(X: Any, name: str) -> Taken:
    """A tensor of the processor's memory, which the array shares."""
    if X.requires_grad:
        raise InputTypeError(f"{name} is a tensor that requires gradients. Give {name}.detach().")
    if X.device.type != "cpu":
        raise InputTypeError(f"{name} is a tensor on the device {str(X.device)!r}. Give {name}.cpu().")
    if str(X.layout) != "torch.strided":
        raise InputTypeError(f"{name} is a tensor of layout {X.layout}. Give {name}.to_dense().")
    try:
        array = X.numpy()
    except (RuntimeError, TypeError) as error:
        raise InputTypeError(
            f"{name} is a tensor of {X.dtype}, which NumPy does not know. Give {name}.float()."
        ) from error
    return Taken(array, source=array)


def _from_array_api(X: Any, name: str) -> Taken:
    """Any array of the array-API standard, or that says by DLPack where it is, in the processor's memory."""
    try:
        array = np.from_dlpack(X)
    except (BufferError, RuntimeError, TypeError, ValueError, AttributeError):
        # What has no DLPack form (booleans of some libraries, read-only arrays of old ones) may still be copied.
        try:
            array = np.asarray(X)
        except (RuntimeError, TypeError, ValueError) as error:
            raise _elsewhere(X, name, f" ({error})") from error
        if array.dtype.kind == "O" and array.ndim == 0:  # NumPy has wrapped what it could not read
            raise _elsewhere(X, name, "") from None
    return _from_numpy(array, name)


def _elsewhere(X: Any, name: str, why: str) -> InputTypeError:
    """What to do with an array that is not in the processor's memory."""
    library = _library(X)
    if library == "cupy":
        return InputTypeError(f"{name} is an array of cupy, in the memory of a GPU. Give {name}.get().")
    return InputTypeError(
        f"{name} is an array of {library} that NumPy cannot read{why}. Move it to the processor's memory and convert "
        "it to NumPy first."
    )


def _from_pandas(X: Any, name: str) -> Taken:
    return Taken(*from_pandas(X, name))


def _refuse_series(X: Any, name: str) -> Taken:
    raise InputError(
        f"{name} must have two dimensions, rows and columns; got one column, a {type(X).__name__}. Reshape your data: "
        f"{name}.to_frame() if each entry is a point."
    )


_READERS: dict[tuple[str, tuple[str, ...]], Callable[[Any, str], Taken]] = {
    ("lowdim", ("Dataset", "Table")): _from_dataset,
    ("lowdim", ("Shards",)): _refuse_shards,
    ("pandas", ("DataFrame",)): _from_pandas,
    ("pandas", ("Series",)): _refuse_series,
    ("polars", ("Series",)): _refuse_series,
    ("polars", ("LazyFrame",)): _refuse_lazy,
    ("anndata", ("AnnData",)): _from_anndata,
    ("dask", ("Array", "DataFrame", "FrameBase", "Delayed", "Bag")): _refuse_dask,
    ("xarray", ("Dataset",)): _refuse_xarray_dataset,
    ("xarray", ("DataArray", "Variable")): _from_xarray,
    ("torch", ("Tensor",)): _from_torch,
    ("h5py", ("Dataset",)): _refuse_open_file,
    ("zarr", ("Array",)): _refuse_open_file,
}


def _library(X: Any) -> str:
    return type(X).__module__.partition(".")[0]
