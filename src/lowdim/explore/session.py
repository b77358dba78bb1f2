"""A session: what is explored, what is wanted and what is shown, and the work in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.events import Event, Events
from ..core.records import Floats
from ..core.run import Run, Store, Workers
from ..core.shared import Shared
from ..core.streams import Streams
from ..data.duplicates import find_duplicates
from ..data.rows import Rows
from ..errors import LowdimError
from .catalogue import class_of
from .greeting import say_content
from .placing import place_all, place_new
from .protocol import Frame
from .quality import Quality, metric_of
from .requests import Requests
from .settings import Setting
from .shown import aligned, in_view
from .source import Source
from .speed import marks
from .states import State, Strip
from .warm import WIDEST, Warm, can_go_on
from .worker import Job, Superseded, Worker

MOST_SHARED = 24
"""Results of stages that are kept for the fits to come, beside the search for neighbours."""
NARROW = 50
"""Neighbours that are searched for at first where no perplexity asks for more."""
KEPT = {"duplicates", "index", "search"}


class Session(Worker):
    """The state of an explorer.

    Parameters
    ----------
    source
        What is explored.
    setting
        What is computed at first; None: t-SNE.
    model
        A fitted estimator whose picture of the first rows is shown instead; the others are placed by it.
    """

    def __init__(self, source: Source, setting: Setting | None = None, model: Any = None) -> None:
        super().__init__()
        self.source = source
        self.rows = Rows(source.X)
        self.setting = setting or Setting.usual("tsne", source.n_rows)
        self.model = model
        self.strip = Strip()
        self.quality = Quality(self.rows)
        self.axes: tuple[int, ...] | None = None
        self.picture: Floats | None = None
        self.shown: Floats | None = None
        self.setting_shown = self.setting
        self.method_shown: str | None = None
        self.iteration = 0
        self.badge = "reading"
        self.is_whole = False
        self.faithfulness: tuple[int, Floats, int] | None = None
        self.on_selection: Callable[[Any], None] | None = None
        self.selection = np.zeros(source.n_rows, bool)
        self._requests = Requests(self)
        self._shared = Shared()
        self._warm = Warm(self.rows)
        self._unjudged: State | None = None
        self._unprepared: Any = None
        self._group: Any = None

    def start(self) -> None:
        """Begin to compute."""
        self.begin(Job(0, self.setting, "preview" if self.model is None else "model"))

    def greet(self) -> None:
        """Tell a page that has just come all that it needs."""
        self.outbox.open()
        self.ask("hello", {})

    def receive(self, message: dict[str, Any]) -> None:
        """Take a message from a page, as `protocol.parse` returns it. It returns at once."""
        kind = message["kind"]
        if kind == "ack":
            self.outbox.acknowledge(message["sequence"])
        elif kind in ("pause", "resume"):
            self.pause(paused=kind == "pause")
            self.outbox.say("paused" if kind == "pause" else "resumed")
        elif kind == "stop":
            self.stop()
        elif kind == "place":
            self.want(Job(self.generation, self.setting, kind))
        elif kind in ("set", "settle"):
            self._take(message)
        else:
            self.ask(kind, message)

    def _take(self, message: dict[str, Any]) -> None:
        """A setting that is wanted, unless a newer one came before it."""
        generation, settle = message["generation"], message["kind"] == "settle"
        if generation <= self.generation:
            return
        try:
            setting = self.setting if settle else Setting.checked(message["method"], message["parameters"])
        except LowdimError as error:
            self.outbox.say("failed", generation=generation, message=str(error))
            return
        self.generation = generation
        self.pause(paused=False)
        is_known = (
            not settle and setting == self.setting and (self.job is not None or self.method_shown is not None)
        )
        if is_known:
            return  # it is what is shown, or on its way, as after a reload
        self.setting = setting
        self.want(Job(generation, setting, "settle" if settle else "preview"))

    # -- what the thread does -------------------------------------------------------------------------------------

    def perform(self, job: Job) -> None:
        """Compute a picture."""
        if job.kind == "place":
            place_all(self)
        elif job.kind == "model":
            self.setting_shown = job.setting
            self.rest(place_new(self), job, settled=False)
        else:
            self._fit(job)

    def answer(self, kind: str, message: dict[str, Any]) -> None:
        """Answer a question of the page."""
        self._requests.answer(kind, message)

    def has_leisure(self) -> bool:
        """Whether a picture is not judged yet, or what the next one needs not there."""
        return self._unjudged is not None or self._unprepared is not None

    def hear(self, event: Event) -> None:
        """Listener of every fit: what it tells goes to the page, and here it can be stopped."""
        if event.kind == "failed":
            return
        if event.kind == "iteration" and "embedding" in event.data:
            self._show_iteration(event)
        elif event.kind in ("started", "finished"):
            self.outbox.note("stage", name=event.stage, state=event.kind)
        elif event.kind == "progress":
            done, total = event.data["done"], event.data["total"]
            self.outbox.note("progress", name=event.stage, done=int(done), total=int(total))
        elif event.kind == "chosen":
            self.outbox.say(
                "chosen", what=event.data["what"], choice=event.data["choice"], why=event.data["why"]
            )
        elif event.kind == "warned":
            self.outbox.say("warned", message=event.message)
        self.check()

    # -- pictures -------------------------------------------------------------------------------------------------

    def run(self) -> Run:
        """Workers, and what fits on these rows share; it can be stopped at every event."""
        return Run(Events(self.hear), Workers(-1), Streams(0), Store(shared=self._shared))

    def quiet_run(self) -> Run:
        """The same workers for an answer, which nothing stops."""
        return Run(workers=Workers(-1))

    def _fit(self, job: Job) -> None:
        if self.is_whole:
            self.is_whole = False
            say_content(self)
        model = job.setting.estimator(callback=self.hear)
        model._check_parameters()
        if self.picture is None and job.setting.method != "pca":
            self._first_picture()
        self.iteration = 0
        now, before = job.setting.parameters, self.setting_shown.parameters
        moved = {name for name in {*now, *before} if now.get(name) != before.get(name)}
        self.outbox.say("begun", generation=job.generation, settle=job.kind == "settle")
        self.outbox.note("speed", speed=marks(job.setting, self.rows.shape))
        self.setting_shown = job.setting
        if job.kind == "preview" and self.method_shown == job.setting.method and can_go_on(model):
            self._go_on(model, moved, job)
        else:
            self._fit_anew(model, job)

    def _first_picture(self) -> None:
        """The leading components, at once."""
        found = class_of("pca")(min(2, *self.rows.shape), callback=self.hear).fit(self.source.X)
        self.show(np.asarray(found.embedding_, dtype=np.float64), "first look: two principal components")

    def _go_on(self, model: Any, moved: set[str], job: Job) -> None:
        def tell(iteration: int, X: Floats) -> None:
            self.iteration = iteration
            self.picture = X
            self.frame(in_view(X, self.axes), job.generation, f"preview, iteration {iteration}")
            self.check()

        picture = self.picture
        assert picture is not None
        result = self._warm.go_on(model, picture, self.run(), tell, moved)
        self.rest(result, job, settled=False)

    def _fit_anew(self, model: Any, job: Job) -> None:
        """What ``fit`` makes; a settled one shares nothing, so that a fit elsewhere ends with the same bits."""
        if job.kind == "settle":
            model.fit(self.source.X)
        else:
            self._prune()
            self._widen(model)
            model._fit(self.source.X, Store(shared=self._shared))
        self.model = model
        self._unprepared = model if can_go_on(model) else None
        self.rest(np.asarray(model.embedding_), job, settled=job.kind == "settle")

    def _widen(self, model: Any) -> None:
        """Neighbours are searched for once, for as many as sliders will ask: more for a perplexity than for a graph."""
        k = getattr(model, "n_neighbors", None)
        is_wide = hasattr(model, "perplexity") or (isinstance(k, int) and k > NARROW)
        widest = min(WIDEST if is_wide else NARROW, self.source.n_rows - 1)
        self._shared.widest = max(self._shared.widest, widest)

    def _prune(self) -> None:
        """Forget the oldest results that fits share, but for the search."""
        results = self._shared.results
        extra = [slot for slot in results if isinstance(slot, tuple) and slot[0] not in KEPT]
        for slot in extra[: max(0, len(extra) - MOST_SHARED)]:
            del results[slot]

    def _show_iteration(self, event: Event) -> None:
        X, iteration, total = event.data["embedding"], event.data["iteration"], event.data["total"]
        if X.ndim != 2 or self.job is None:
            return
        X = self._expanded(X)
        if X is None:
            return
        self.iteration = iteration
        self.picture, self.method_shown = X, self.setting_shown.method
        kind = "settling" if self.job.kind == "settle" else "fitting"
        text = f"{kind}, iteration {iteration}" + (f" of {total}" if total else "")
        self.frame(in_view(X, self.axes), self.job.generation, text)

    def _expanded(self, X: Floats) -> Floats | None:
        """A row for every row of the data; None where the points are others, as the pivots of a large fit."""
        if len(X) == self.source.n_rows:
            return X
        if self._group is None:
            self._group = find_duplicates(self.rows).group
        return X[self._group] if len(X) == int(self._group.max()) + 1 else None

    def frame(self, points: Floats, generation: int, badge: str) -> None:
        """Show points as they are, with what they are."""
        self.shown, self.badge = points, badge
        self.outbox.show(Frame(points, generation, self.iteration))
        self.outbox.note("badge", text=badge, generation=generation)

    def show(self, picture: Floats, badge: str) -> None:
        """Show a picture as it is, turned onto the one before."""
        self.picture = picture
        self.frame(aligned(in_view(picture, self.axes), self.shown), self.generation, badge)

    def rest(self, coordinates: Floats, job: Job, *, settled: bool) -> None:
        """Show a picture that has come to rest, keep it, and have it judged."""
        is_moving = self.iteration > 0
        points = in_view(coordinates, self.axes)
        turned = points if is_moving else aligned(points, self.shown)
        self.picture, self.method_shown = np.asarray(coordinates, dtype=np.float64), job.setting.method
        after = f", at rest after {self.iteration} iterations" if is_moving else ""
        badge = "settled" if settled else f"preview{after}"
        self.frame(turned, job.generation, badge)
        state = self.strip.add(
            job.setting, np.asarray(coordinates), turned, settled=settled, iteration=self.iteration
        )
        self.outbox.forget("stage", "progress")
        self.outbox.put_state(state)
        self.outbox.say("done", generation=job.generation, settled=settled, state=state.number)
        self._unjudged = state

    def restore(self, state: State) -> None:
        """Show a state again, and go on from it."""
        self.stop()
        self.failure = ""
        self.setting = self.setting_shown = state.setting
        self.method_shown = state.setting.method
        self.iteration = state.iteration
        self.picture = np.asarray(state.coordinates, dtype=np.float64)
        self._unjudged = state
        badge = "settled" if state.settled else "preview"
        self.frame(self.view_of(state), self.generation, f"{badge}, restored")

    def view_of(self, state: State) -> Floats:
        """A state as it was shown, or in the coordinates that are looked at now, where these are more or fewer."""
        points, shown = in_view(state.coordinates, self.axes), np.asarray(state.shown, dtype=np.float64)
        return shown if shown.shape == points.shape else points

    def use_leisure(self) -> None:
        """Prepare what a slider will ask for, and judge what is shown, while nothing else is wanted."""
        model, self._unprepared = self._unprepared, None
        state, self._unjudged = self._unjudged, None
        try:
            if model is not None and self.picture is not None:
                self._warm.prepare(model, self.picture, self.run())
                model = None
            if state is not None:
                self._judge(state)
        except Superseded:
            self._unprepared, self._unjudged = model, state
            raise

    def _judge(self, state: State) -> None:
        """Exact recall of every point."""
        known = self.quality.known(metric_of(state.setting), self.run())
        shares = known.recall(np.asarray(state.coordinates, dtype=np.float64), self.run())
        self.strip.judge(state, float(shares.mean()))
        self.faithfulness = (state.number, shares, known.k)
        self.outbox.forget("stage", "progress")
        self._requests.send_scores()
