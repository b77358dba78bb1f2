"""From data or a model to a running explorer."""

from __future__ import annotations

import webbrowser
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.messages import in_python
from ..core.system import has_windows
from ..errors import InputError
from ..estimators.explaining import fitted_rows
from .catalogue import METHODS
from .session import Session
from .settings import Setting
from .source import Source, source_of

if TYPE_CHECKING:
    from .server import Server

REDIRECT = """<!doctype html>
<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url={}">
"""


class Explorer:
    """A running explorer: its page is at ``address`` until it is closed or the process ends."""

    def __init__(self, session: Session) -> None:
        from .server import Server

        self._session = session
        self._server: Server = Server(session).start()
        self._redirect: Path | None = None

    @property
    def address(self) -> str:
        """Where the page is, with the token that opens it."""
        return self._server.address

    @property
    def selection(self) -> NDArray[np.int64]:
        """Numbers of the rows that are selected on the page."""
        return np.flatnonzero(self._session.selection)

    def open(self) -> None:
        """Open the page in the browser of this machine, where it has one with windows.

        The address goes through a file that only its owner can read: others see the arguments of a program.
        """
        if not has_windows():
            return
        text = REDIRECT.format(escape(self.address))
        with NamedTemporaryFile(
            "w", suffix=".html", prefix="lowdim-", delete=False, encoding="utf-8"
        ) as file:
            file.write(text)
        self._redirect = Path(file.name)
        webbrowser.open(self._redirect.as_uri())

    def wait(self) -> None:
        """Return when the explorer is closed, by Ctrl-C or from elsewhere."""
        self._server.wait()

    def close(self) -> None:
        """Close the port and end the work."""
        self._server.close()
        if self._redirect is not None:
            self._redirect.unlink(missing_ok=True)

    def __repr__(self) -> str:
        return f"<Explorer of {self._session.source.title!r} on port {self._server.guard.port}>"


def explore(
    X: Any,
    labels: Any = None,
    *,
    method: str = "tsne",
    columns: Mapping[str, Any] | None = None,
    title: str = "",
    open_browser: bool = True,
) -> Explorer:
    """Open the live explorer: a local page where the embedding of some rows moves as its parameters do.

    Parameters
    ----------
    X
        Points as rows, in any form that the estimators take.
    labels
        A label for each row, which colours the picture.
    method
        The method to begin with, by the name that ``lowdim embed`` has for it.
    columns
        Further columns by name, one value for each row.
    title
        What the page is called.
    open_browser
        Whether to open the page in the browser of this machine.
    """
    check_method(method)
    source = source_of(X, labels, columns=columns, title=title).sampled()
    return start(Session(source, Setting.usual(method, source.n_rows)), open_browser=open_browser)


def explore_model(
    model: Any,
    X: Any = None,
    *,
    labels: Any = None,
    columns: Mapping[str, Any] | None = None,
    open_browser: bool = True,
) -> Explorer:
    """Open the live explorer at the picture of a fitted estimator: see `model.explore`."""
    return start(model_session(model, X, labels=labels, columns=columns), open_browser=open_browser)


def model_session(
    model: Any,
    X: Any = None,
    *,
    new: Source | None = None,
    labels: Any = None,
    columns: Mapping[str, Any] | None = None,
) -> Session:
    """A session that begins with the picture of a model, on which ``new`` rows are placed."""
    setting = Setting.of(model)
    if model.__sklearn_tags__().input_tags.pairwise:
        raise InputError("This model was fitted to a matrix between points, and only rows can be explored.")
    if "embedding_" not in vars(model):
        raise InputError("This model was saved without its embedding. Explore the data instead.")
    rows = fitted_rows(model, X, pairwise=False)
    source = source_of(
        rows.values, labels, columns=columns, title=f"{type(model).__name__} of {rows.n_rows:,} rows"
    )
    names = getattr(model, "feature_names_in_", None)
    source = replace(source, feature_names=None if names is None else tuple(map(str, names)))
    if new is not None:
        source = _with_new(source, new)
    return Session(source, setting, model)


def _with_new(source: Source, new: Source) -> Source:
    """Fitted and new rows together, told apart by a column."""
    from scipy.sparse import issparse, vstack

    parts: Any = [source.X, new.X]
    X: Any = vstack(parts).tocsr() if issparse(source.X) else np.concatenate(parts)
    which = np.repeat(["fitted", "new"], [source.n_rows, new.n_rows])
    return replace(
        source, X=X, columns={"rows": which}, label="rows", title=f"{source.title}, {new.n_rows:,} new ones"
    )


def start(session: Session, *, open_browser: bool) -> Explorer:
    """Start a server for a session; an InputError says what to install where it cannot be."""
    if find_spec("websockets") is None:
        raise InputError(
            "The explorer needs the package websockets. Install it with: pip install 'lowdim[explore]'"
            + in_python(", or use lowdim.explore.Widget in a notebook.", ".")
        )
    explorer = Explorer(session)
    if open_browser:
        explorer.open()
    return explorer


def check_method(method: str) -> None:
    """An InputError where a method cannot be explored."""
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}; got {method!r}.")
