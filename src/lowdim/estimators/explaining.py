"""`explain` of every fitted estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..core.messages import DATA, named
from ..core.run import Run
from ..data.rows import Rows
from ..errors import InputError
from ..explanation.explain import explain_selection
from ..explanation.record import Explanation
from ..maps.turning import rows_of
from ..metrics.inputs import read_points
from ..reliability.models import check_own_rows


class Explaining:
    """Part of every estimator: which features put some of its points here and not there, and a page to look on."""

    def explain(
        self: Any,
        selection: Any,
        X: Any = None,
        *,
        against: Any = None,
        labels: ArrayLike | None = None,
        columns: Any = None,
        level: float = 0.05,
        gradient: bool = False,
    ) -> Explanation:
        """Which features put these points here and not there.

        Of each feature: the plain contrast between the points selected and the others, and how the distance of their
        centres in the picture changes with it. Of neighbour embeddings that is the gradient with respect to the data,
        by one adjoint solve at the picture; else the derivative of the map.

        Parameters
        ----------
        selection
            A truth value for each row, or numbers of rows; with ``labels`` a label, or several.
        X
            The rows of the fit. None: those that the model holds. Of a model of distances or of a graph: columns of
            the same rows, for the contrasts alone.
        against
            The points to compare with, in the same forms. None: all others.
        labels
            A label for each row.
        columns
            Names of the features. None: those that the model knows, else their numbers.
        level
            False discovery rate below which a feature counts as different, and 1 less the level of the intervals.
        gradient
            Keep the whole gradient, N x D, where there is one.

        Returns
        -------
        Explanation
            A row for each feature: ``table()``, ``to_frame()``, ``summary()``. See docs/explain.md.
        """
        check_is_fitted(self)
        if "embedding_" not in vars(self):
            raise InputError(
                f"This {type(self).__name__} was saved without embedding_, so that nothing says where its rows are. "
                "Save it with its embedding, or fit it again."
            )
        pairwise = bool(self.__sklearn_tags__().input_tags.pairwise)
        rows = fitted_rows(self, X, pairwise)
        return explain_selection(
            self._settled,
            rows,
            selection,
            against=against,
            labels=labels,
            columns=columns,
            level=level,
            gradient=gradient,
            pairwise=pairwise,
            run=Run(workers=self._workers),
        )

    def explore(
        self: Any,
        X: Any = None,
        *,
        labels: ArrayLike | None = None,
        columns: Any = None,
        open_browser: bool = True,
    ) -> Any:
        """Open the live explorer at the picture of this model: a local page whose sliders recompute it.

        It needs the extra ``explore`` (websockets). In a notebook `lowdim.explore.Widget` shows the same in a cell.

        Parameters
        ----------
        X
            The rows of the fit. None: those that the model holds.
        labels
            A label for each row, which colours the picture.
        columns
            Further columns by name, one value for each row.
        open_browser
            Whether to open the page in the browser of this machine; else its ``address`` says where it is.

        Returns
        -------
        lowdim.explore.Explorer
            The running explorer: ``address``, ``selection``, ``close()``. It ends with the process.
        """
        check_is_fitted(self)
        import lowdim

        return lowdim.explore.explore_model(
            self, X, labels=labels, columns=columns, open_browser=open_browser
        )


def fitted_rows(model: Any, X: Any, pairwise: bool) -> Rows:
    """The rows whose features are looked at: those given, or those that the model holds."""
    n_rows, name = model._n_rows, type(model).__name__
    if X is not None:
        rows = read_points("explain", DATA, X) if pairwise else model._check_input(X, reset=False)
        if rows.n_rows != n_rows:
            raise InputError(
                f"{DATA} must have the {n_rows} rows of the fit; got {rows.n_rows}. Give all of them, in their order."
            )
        if not pairwise:
            check_own_rows("explain", model, rows)
        return rows
    held = None if pairwise else rows_of(model.map_)
    group = getattr(model, "point_of_row_", None)
    if held is not None and group is not None and int(np.max(group)) + 1 == held.n_rows:
        return held.select(group)
    if held is None or held.n_rows != n_rows:
        raise InputError(
            f"{named('X', 'explain')} is needed: this {name} does not hold the features of its {n_rows} rows. Give "
            "the data of the fit."
        )
    return held
