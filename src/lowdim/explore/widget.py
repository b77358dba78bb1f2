"""The explorer in a cell of a notebook: the same page, with the notebook as its transport.

Frames are custom messages and no synced state, so that a notebook does not grow by them. The session computes in its
own thread, and a thread of the widget sends what it says, so that neither waits for the kernel nor keeps it waiting.
"""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from threading import Thread
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .document import cell_style, module
from .opening import check_method, model_session
from .protocol import ProtocolError, parse
from .session import Session
from .settings import Setting
from .source import source_of

LOADER = """\
const packed = "{packed}";
async function load() {{
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const address = URL.createObjectURL(new Blob([await new Response(stream).text()], {{ type: "text/javascript" }}));
  try {{ return await import(address); }} finally {{ URL.revokeObjectURL(address); }}
}}
async function render({{ model, el }}) {{
  const {{ openExplorer, NotebookTransport }} = await load();
  el.classList.add("lx-cell");
  const transport = new NotebookTransport(model);
  const explorer = openExplorer(el, transport, {{ embedded: true }});
  return () => explorer.remove();
}}
export default {{ render }};
"""


@cache
def script() -> str:
    """The module of the page, packed: a notebook that keeps its widgets keeps it too."""
    made = module() + "\nexport { openExplorer, NotebookTransport };\n"
    return LOADER.format(packed=b64encode(zlib.compress(made.encode(), 9)).decode("ascii"))


if TYPE_CHECKING:
    from anywidget import AnyWidget as Base
else:
    Base = object


class Cell(Base):
    """The explorer in a cell: ``selection`` has the rows that are selected, ``embedding`` what is shown.

    Parameters
    ----------
    X
        Points as rows, or a fitted estimator.
    labels
        A label for each row, which colours the picture.
    method
        The method to begin with, by the name that ``lowdim embed`` has for it.
    columns
        Further columns by name, one value for each row.
    title
        What it is called.
    """

    _esm = script()
    _css = cell_style()

    def __init__(
        self,
        X: Any,
        labels: Any = None,
        *,
        method: str = "tsne",
        columns: Mapping[str, Any] | None = None,
        title: str = "",
    ) -> None:
        super().__init__()
        self._session = _session(X, labels, method, columns, title)
        self._sender: Thread | None = None
        self.on_msg(self._hear_page)
        self._session.start()

    @property
    def selection(self) -> NDArray[np.int64]:
        """Numbers of the rows that are selected in the cell."""
        return np.flatnonzero(self._session.selection)

    @property
    def embedding(self) -> NDArray[np.float64] | None:
        """The coordinates that are shown; None before there are any."""
        return None if self._session.picture is None else self._session.picture.copy()

    @property
    def model(self) -> Any:
        """The last estimator that was fitted; None before there is one."""
        return self._session.model

    def close(self) -> None:
        """End the work, and take the widget away."""
        if session := vars(self).get("_session"):
            session.close()
        super().close()

    def _hear_page(self, _: Any, content: Any, buffers: Any) -> None:
        """Take a message from the cell; what is none of ours is left alone."""
        if content == {"open": True}:
            self._greet_page()
            return
        try:
            message = parse(content.get("text") if isinstance(content, dict) else None)
        except ProtocolError:
            return
        self._session.receive(message)

    def _greet_page(self) -> None:
        self._session.outbox.close()
        if self._sender is not None:
            self._sender.join()
        self._session.greet()
        self._sender = Thread(target=self._tell_page, name="lowdim widget", daemon=True)
        self._sender.start()

    def _tell_page(self) -> None:
        while (message := self._session.outbox.next()) is not None:
            if isinstance(message, str):
                self.send({"text": message})
            else:
                self.send({}, buffers=[message])

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget, and a picture in its place where a notebook is shown without its kernel."""
        made: Any = super()._repr_mimebundle_(**kwargs)
        picture = fallback(self._session)
        if picture is None or not made:
            return made
        data, metadata = made if isinstance(made, tuple) else (made, {})
        return data | {"image/png": picture}, metadata


@cache
def widget_class() -> type:
    """The widget; an InputError says what to install where it cannot be."""
    try:
        from anywidget import AnyWidget
    except ImportError as error:
        raise InputError(
            "The widget needs the package anywidget. Install it with: pip install 'lowdim[notebook]'"
        ) from error
    return type("Widget", (Cell, AnyWidget), {"__doc__": Cell.__doc__})


def _session(X: Any, labels: Any, method: str, columns: Mapping[str, Any] | None, title: str) -> Session:
    if hasattr(X, "get_params"):
        return model_session(X, labels=labels, columns=columns)
    check_method(method)
    source = source_of(X, labels, columns=columns, title=title).sampled()
    return Session(source, Setting.usual(method, source.n_rows))


def fallback(session: Session) -> str | None:
    """A small PNG of what is shown, in base64; None where nothing is yet, or there is no Matplotlib."""
    if session.shown is None:
        return None
    try:
        from io import BytesIO

        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(4.8, 3.6), dpi=80)
    axes = figure.add_axes((0, 0, 1, 1))
    values = session.source.columns.get(session.source.label or "")
    colours = None if values is None else np.unique(values.astype(str), return_inverse=True)[1]
    axes.scatter(session.shown[:, 0], session.shown[:, 1], c=colours, s=3, cmap="tab10", linewidths=0)
    axes.axis("off")
    file = BytesIO()
    figure.savefig(file, format="png")
    return b64encode(file.getvalue()).decode("ascii")
