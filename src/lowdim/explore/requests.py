"""How a session answers what a page asks beside pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .answers import FILES, LINES, column_of, contrasts, described, file_of, lines_of, selected_rows
from .greeting import say_hello
from .protocol import FILE, Block, Frame
from .quality import metric_of
from .shown import aligned, in_view
from .trusting import PREFIX, Trusting, values_of

if TYPE_CHECKING:
    from .session import Session

DISTANCE = "distance in the data"


class Requests:
    """The answers of one session; each is computed in its thread."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._trusting = Trusting(session)

    def answer(self, kind: str, message: dict[str, Any]) -> None:
        """Answer one message."""
        getattr(self, f"_{kind}")(message)

    def send_column(self, name: str, values: NDArray[Any], *, is_quantity: bool = False, **more: Any) -> None:
        """A column, and what the page has to know of it before."""
        column = column_of(name, values, is_quantity=is_quantity)
        outbox = self._session.outbox
        outbox.say("column", header=described(column), **more)
        outbox.put(Block.of_values(column.values, 0))

    def send_scores(self) -> None:
        """How faithful the picture is that was judged last, as a column and as a number."""
        if self._session.faithfulness is not None:
            number, shares, k = self._session.faithfulness
            self.send_column("faithfulness", shares, is_quantity=True)
            self._session.outbox.say("scores", state=number, recall=float(shares.mean()), k=k)

    def _hello(self, message: dict[str, Any]) -> None:
        say_hello(self._session)
        self.send_scores()

    def _axes(self, message: dict[str, Any]) -> None:
        session = self._session
        depth = message["z"]
        session.axes = (message["x"], message["y"], *([] if depth is None else [depth]))
        if session.picture is not None:
            points = aligned(in_view(session.picture, session.axes), None)
            session.shown = points
            session.outbox.show(Frame(points, session.generation, session.iteration))

    def _column(self, message: dict[str, Any]) -> None:
        self.send_column(message["name"], self._session.source.named(message["name"]), asked=True)

    def _distances(self, message: dict[str, Any]) -> None:
        row = self._row(message)
        session = self._session
        known = session.quality.known(metric_of(session.setting_shown), session.quiet_run())
        self.send_column(DISTANCE, known.distances(row, session.quiet_run()), is_quantity=True, row=row)

    def _trust(self, message: dict[str, Any]) -> None:
        self._trusting.measure()

    def _trusted(self, message: dict[str, Any]) -> None:
        """Every column of what was measured, and its sentence; `Trusting` asks for it, and no page can."""
        found = self._trusting.take(message["state"], message["found"])
        if found is None:
            return
        for name in found.column_names:
            values, is_quantity = values_of(found, name)
            self.send_column(PREFIX + name, values, is_quantity=is_quantity)
        said = " ".join((found.summary(), *found.notes))
        self._session.outbox.say("trusted", state=message["state"], names=found.column_names, said=said)

    def _neighbours(self, message: dict[str, Any]) -> None:
        row = self._row(message)
        session = self._session
        known = session.quality.known(metric_of(session.setting_shown), session.quiet_run())
        distances = known.distances(row, session.quiet_run())
        distances[row] = np.inf
        nearest = np.argsort(distances, kind="stable")[: known.k]
        session.outbox.say("neighbours", row=row, rows=[int(each) for each in nearest])

    def _selection(self, message: dict[str, Any]) -> None:
        session = self._session
        session.selection = selected_rows(message["mask"], session.source.n_rows)
        if session.on_selection is not None:
            session.on_selection(session.selection)
        found = contrasts(session.source, session.selection)
        session.outbox.say("contrasts", count=int(session.selection.sum()), features=found)

    def _restore(self, message: dict[str, Any]) -> None:
        session = self._session
        state = session.strip.find(message["state"])
        if message["pane"] == 0:
            session.restore(state)
            setting = {"method": state.setting.method, "parameters": dict(state.setting.parameters)}
            session.outbox.say("restored", state=state.number, setting=setting)
        else:
            shown = aligned(session.view_of(state), session.shown)
            session.outbox.show(Frame(shown, session.generation, state.iteration, pane=1))

    def _export(self, message: dict[str, Any]) -> None:
        """The last settled picture as a file, or the lines that make it again."""
        session, kind = self._session, message["what"]
        settled = [state for state in session.strip.states if state.settled]
        if kind not in (*FILES, *LINES):
            raise InputError(f"what must be one of {', '.join((*FILES, *LINES))}.")
        if not settled:
            raise InputError("Only a settled picture can be made again. Press Settle first.")
        state = settled[-1]
        if kind in LINES:
            text = lines_of(state, session.source)[kind]
            if text is None:
                raise InputError("These data did not come from a file: there is no line for the shell.")
            session.outbox.say("lines", what=kind, text=text)
            return
        data = file_of(kind, np.asarray(state.coordinates), session.source, state.setting.method)
        session.outbox.say("file", name=f"{state.setting.method}{FILES[kind]}")
        session.outbox.put(Block(FILE, data))

    def _row(self, message: dict[str, Any]) -> int:
        row = int(message["row"])
        if row >= self._session.source.n_rows:
            raise InputError(f"row must be below {self._session.source.n_rows}; got {row}.")
        return row
