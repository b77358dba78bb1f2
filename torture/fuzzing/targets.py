"""What the inputs are fed to."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from . import arrays, groups, models, tables, words
from .judge import Find, check_model, check_table, judged, same_csv, same_npy, same_npz

Options = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """A door to be broken: ``make`` gives an input, ``feed`` hands it over and raises a `Find`.

    ``share`` is how many of a thousand inputs go here; ``suffix`` ends the name of the file.
    """

    suffix: str
    share: int
    make: Callable[[Random], bytes]
    feed: Callable[[Path, Options], None]
    options: Callable[[Random], Options] = lambda _: {}


def write(target: Target, path: Path, data: bytes) -> None:
    """Put an input where it will be read."""
    if target.suffix == ".zarr":
        groups.write_folder(path, data)
    else:
        path.write_bytes(data)


def _reads(same: Callable[[Path, Any], None] | None = None) -> Callable[[Path, Options], None]:
    def feed(path: Path, options: Options) -> None:
        from lowdim.data import files

        table = None
        with judged(path.name, options):
            table = files.read(path, **options)
            check_table(table)
        if table is not None and same is not None and not options:
            same(path, table)

    return feed


def _shards(path: Path, options: Options) -> None:
    import lowdim

    with judged(path.name):
        source = lowdim.shards(path)
        found = source.rows(0, min(source.n_samples, 1000))
        if found.shape != (min(source.n_samples, 1000), source.n_features) or found.dtype != source.dtype:
            raise Find(f"{found.shape} of {found.dtype} for shards of {source.shape} of {source.dtype}")
        source.digest()


def _embedding(path: Path, options: Options) -> None:
    import numpy as np

    from lowdim.data import files

    with judged(path.name):
        coordinates, table = files.read_embedding(path)
        check_table(table)
        if coordinates.dtype != np.float64 or not np.isfinite(coordinates).all():
            raise Find("coordinates are not finite")


def _model(path: Path, options: Options) -> None:
    import lowdim

    model = None
    with judged(path.name):
        model = lowdim.load(path)
    if model is not None:
        with judged(""):
            check_model(model, models.new_points())


def _info(path: Path, options: Options) -> None:
    from lowdim.models import describe

    with judged(path.name):
        found = describe(path)
        str(found)
        json.dumps(found.to_json(), allow_nan=False).encode("ascii")


def _archive(path: Path, options: Options) -> None:
    from lowdim.data.catalogue import Entry
    from lowdim.data.stored import read_archive

    entry = Entry("input.npz", (3, 4), "", "", labels="y", image=(2, 2), column_major=True)
    with judged(path.name):
        found = read_archive(path, entry)
        if found.data.ndim != 2 or found.data.dtype.kind not in "biuf" or found.labels is None:
            raise Find(f"the data set has shape {found.data.shape} of {found.data.dtype}")
        if len(found.labels) != len(found.data):
            raise Find(f"{len(found.labels)} labels for {len(found.data)} rows")


def _arff(path: Path, options: Options) -> None:
    import numpy as np

    from lowdim.core.events import Events
    from lowdim.data.download import read_arff

    with judged(""):
        try:
            data, labels = read_arff(io.BytesIO(path.read_bytes()), (3, 2), Events())
        except (ValueError, KeyError):
            return  # `fetch` turns these two into a FormatError
        if data.shape != (3, 2) or labels.shape != (3,) or data.dtype != np.uint8:
            raise Find(f"pixels of shape {data.shape}")


def _words_of(path: Path) -> str:
    """What was typed; a shell may hand over anything."""
    data = path.read_bytes()
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape")


def _values(path: Path, options: Options) -> None:
    import argparse

    from lowdim.cli.options.table import Parameter, methods
    from lowdim.cli.options.values import convert

    text = _words_of(path)
    kinds = ("Any", "int", "float | None", "int | str", "bool", "str | None", "bool | float")
    own = [parameter for method in methods().values() for parameter in method.parameters]
    with judged(""):
        for parameter in [
            *(Parameter("value", kind) for kind in kinds),
            *own[:: max(1, len(own) // 5)],
        ]:
            try:
                convert(text, parameter)
            except argparse.ArgumentTypeError as error:
                str(error).encode("utf-8", "backslashreplace")


def _grid(path: Path, options: Options) -> None:
    from lowdim.cli.commands import sweep
    from lowdim.cli.options.build import build
    from lowdim.cli.options.method import choose
    from lowdim.cli.usage import UsageError

    text = _words_of(path)
    chosen = choose(["-m", options["method"]])
    with judged(""):
        try:
            name, values = sweep._column(chosen, build(chosen, sweep.argparse.Namespace()), text)
        except UsageError:
            return
        if type(name) is not str or not values:
            raise Find(f"a column {name!r} of {len(values)} values")


def _program(path: Path, options: Options) -> None:
    """The whole program, as far as a data file that does not exist."""
    from contextlib import redirect_stderr, redirect_stdout

    from lowdim.cli import main

    arguments = _words_of(path).split("\x1e")
    told = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")
    with judged(""), redirect_stdout(told), redirect_stderr(told):
        code = main(arguments)
        told.seek(0)
        text = told.read()
        if code not in (0, 1, 2) or "Traceback" in text:
            raise Find(f"the program ended with {code}: {text[-500:]}")


FLAGS = (
    "-d", "-k", "-m", "-", "--", "--grid", "--perplexity", "--solver", "--landmarks", "--init", "--json", "--label",
)  # fmt: skip
COMMANDS = ("embed", "sweep", "plan", "transform", "score", "info", "plot")


def _arguments(random: Random) -> bytes:
    """A command, some options, and data that are not there."""
    found = [random.choice((*COMMANDS, words.word(random)))]
    for _ in range(random.randrange(5)):
        flag, word = random.choice(FLAGS), words.word(random)
        found.append(random.choice((flag, word, f"{flag}={word}")))
    found.append(random.choice(("nowhere.csv", "nowhere.npy", "nowhere.lowdim")))
    # A device would be read for ever.
    return "\x1e".join(word for word in found if "/dev/" not in word and "/proc/" not in word).encode(
        "utf-8", "surrogatepass"
    )


def _text(make: Callable[[Random], str]) -> Callable[[Random], bytes]:
    return lambda random: make(random).encode("utf-8", "surrogatepass")


def _method(random: Random) -> Options:
    return {"method": random.choice(("tsne", "isomap", "lle", "laplacian-eigenmaps", "pca"))}


def _gz(make: Callable[[Random], bytes]) -> Callable[[Random], bytes]:
    return lambda random: tables.packed(make(random), random)


TARGETS: dict[str, Target] = {
    "npy": Target(".npy", 140, arrays.npy, _reads(same_npy)),
    "npz": Target(".npz", 130, arrays.npz, _reads(same_npz)),
    "csv": Target(".csv", 110, tables.csv, _reads(same_csv), tables.csv_options),
    "csv-gz": Target(".csv.gz", 40, _gz(tables.csv), _reads(same_csv), tables.csv_options),
    "tsv": Target(".tsv", 20, tables.csv, _reads(), tables.csv_options),
    "parquet": Target(".parquet", 90, tables.parquet, _reads(), tables.csv_options),
    "mtx": Target(".mtx", 90, tables.matrix_market, _reads()),
    "mtx-gz": Target(".mtx.gz", 30, _gz(tables.matrix_market), _reads()),
    "h5ad": Target(".h5ad", 70, groups.h5ad, _reads(), groups.group_options),
    "zarr": Target(".zarr", 30, groups.zarr, _reads(), groups.group_options),
    "shards-npy": Target(".npy", 20, arrays.npy, _shards),
    "shards-parquet": Target(".parquet", 20, tables.parquet, _shards),
    "shards-h5ad": Target(".h5ad", 20, groups.h5ad, _shards),
    "shards-zarr": Target(".zarr", 20, groups.zarr, _shards),
    "embedding-csv": Target(".csv", 40, tables.csv, _embedding),
    "embedding-parquet": Target(".parquet", 20, tables.parquet, _embedding),
    "embedding-npy": Target(".npy", 20, tables.npy_like, _embedding),
    "embedding-h5ad": Target(".h5ad", 20, groups.h5ad, _embedding),
    "model": Target(".lowdim", 50, models.model, _model),
    "info": Target(".lowdim", 30, models.model, _info),
    "archive": Target(".npz", 30, arrays.npz, _archive),
    "arff": Target(".arff", 20, tables.arff, _arff),
    "values": Target(".txt", 50, _text(words.word), _values),
    "grid": Target(".txt", 30, _text(words.grid), _grid, _method),
    "program": Target(".txt", 10, _arguments, _program),
}
"""Every door, by its name."""
