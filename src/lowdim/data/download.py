"""Data sets from the network: streamed, compared with a checksum, and only then moved into the cache folder."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import json
import tempfile
import urllib.error
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.atomic import writing
from ..core.events import Events
from ..errors import FormatError, MissingDataError
from .catalogue import Entry
from .stored import cache_folder, missing

OPENML = "https://www.openml.org/api/v1/json/data"
TIMEOUT = 30.0
LONGEST_LINE = 1 << 20
"""A line of MNIST has 3 KB; what is longer than this is no such line."""
BLOCK = 1000
"""Lines that are read at a time."""

Bytes = NDArray[np.uint8]
NETWORK_ERRORS = (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError, EOFError)


def fetch(name: str, entry: Entry, events: Events) -> Path:
    """Download a data set into the cache folder and return its archive."""
    folder = cache_folder()
    target = folder / entry.file
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MissingDataError(
            f"data set {name!r}: the cache folder {folder} cannot be made ({error.strerror}). Set LOWDIM_CACHE to a "
            "folder that can be written."
        ) from error
    with events.stage(f"download {name}"):
        try:
            data, labels = _from_openml(entry, events) if entry.remote == "openml" else _olivetti(folder)
        except NETWORK_ERRORS as error:
            reason = getattr(error, "reason", None) or error
            raise missing(
                name, entry, f"and to download it failed ({reason}): try again when online"
            ) from error
        except (ValueError, KeyError) as error:
            raise FormatError(
                f"data set {name!r}: what was downloaded could not be read ({error}). Try again later."
            ) from error
        if (found := content_checksum(data, labels)) != entry.sha256:
            raise FormatError(
                f"data set {name!r}: what was downloaded has the checksum {found[:16]}..., not {entry.sha256[:16]}...: "
                "it is damaged or another version, and was thrown away. Try again later."
            )
        # A file object, because NumPy adds a suffix to a name that lacks it.
        with writing(target) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, X=data, y=labels)
    return target


def content_checksum(data: Bytes, labels: Bytes) -> str:
    """SHA-256 of the bytes of both arrays, whatever file they came in."""
    digest = hashlib.sha256(np.ascontiguousarray(data).data)
    digest.update(np.ascontiguousarray(labels).data)
    return digest.hexdigest()


def _from_openml(entry: Entry, events: Events) -> tuple[Bytes, Bytes]:
    """Data and labels of a dense ARFF file at OpenML, whose last column is the label."""
    with _opened(f"{OPENML}/{entry.number}") as stream:
        description = json.loads(stream.read(LONGEST_LINE))["data_set_description"]
    with _opened(str(description["url"])) as stream:
        return read_arff(stream, entry.shape, events)


@contextmanager
def _opened(url: str) -> Generator[BufferedIOBase]:
    """A stream of the plain bytes at an address; it may travel compressed."""
    request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip", "User-Agent": "lowdim"})
    with _answer(request) as response:
        if response.headers.get("Content-Encoding") != "gzip":
            yield response
            return
        with gzip.GzipFile(fileobj=response) as plain:
            yield plain


def _answer(request: urllib.request.Request) -> http.client.HTTPResponse:
    """What a server answers; a refusal is closed, as nobody reads it."""
    try:
        answer: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as refusal:
        refusal.close()
        raise
    return answer


def read_arff(stream: BufferedIOBase, shape: tuple[int, int], events: Events) -> tuple[Bytes, Bytes]:
    """Whole numbers from 0 to 255 of a dense ARFF stream: the columns, and the last one apart.

    Its size is known beforehand, so that no more than that is ever held, whatever comes.
    """
    n_rows, n_columns = shape
    out = np.empty((n_rows, n_columns + 1), np.uint8)
    lines = _data_lines(stream)
    done = 0
    while block := list(islice(lines, BLOCK)):
        values = np.loadtxt(block, delimiter=",", quotechar="'", ndmin=2)
        if values.shape[1] != n_columns + 1 or done + len(values) > n_rows:
            raise ValueError(f"it has more rows or other columns than {n_rows} x {n_columns} and a label")
        if not ((values >= 0) & (values <= 255) & (values == np.trunc(values))).all():
            raise ValueError("it holds something else than whole numbers from 0 to 255")
        out[done : done + len(values)] = values
        done += len(values)
        events.progress(done, n_rows)
    if done < n_rows:
        raise ValueError(f"it ends after {done} of {n_rows} rows")
    return out[:, :-1].copy(), out[:, -1].copy()


def _data_lines(stream: BufferedIOBase) -> Iterator[str]:
    """The lines after @data, without comments."""
    begun = False
    while line := stream.readline(LONGEST_LINE):
        text = line.decode("ascii", "replace").strip()
        if begun and text and not text.startswith("%"):
            yield text
        begun = begun or text.lower() == "@data"


def _olivetti(folder: Path) -> tuple[Bytes, Bytes]:
    """Olivetti faces as scikit-learn fetches them, with a checksum of its own, back in 8 bits."""
    from sklearn.datasets import fetch_olivetti_faces

    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        faces: Any = fetch_olivetti_faces(data_home=temporary)
    grey = np.rint(np.asarray(faces.data, np.float64) * 242.0)
    return grey.astype(np.uint8), np.asarray(faces.target).astype(np.uint8)
