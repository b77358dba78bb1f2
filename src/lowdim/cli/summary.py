"""What was done and how faithful the result is, in a few lines."""

from __future__ import annotations

from typing import Any

from .files.columns import is_pairwise
from .files.inputs import known_labels
from .options.method import Chosen
from .options.wording import flag_of
from .session import Session

MEASURES = ("trustworthiness", "continuity", "neighbor_recall")
FEWEST = 20
"""Rows below which the measures say nothing."""


def measure(model: Any, table: Any, session: Session) -> Any:
    """Scores of a fitted model, or None where they have no meaning: a graph has no distances."""
    from ..estimators.metric import metric_of
    from ..metrics import score

    pairwise = is_pairwise(model)
    metric = metric_of(model)
    n_rows = table.X.shape[0]
    is_given = metric == "precomputed" and not _is_sparse(table.X)
    if n_rows < FEWEST or (pairwise and not is_given):
        return None
    labels = known_labels(table.labels) if _are_classes(table.labels) else None
    with session.stage("quality"):
        return score(
            table.X,
            model.embedding_,
            labels,
            n_neighbors=min(15, n_rows // 2 - 1),
            metric=metric,
            measures=[*MEASURES, *(["neighbor_accuracy"] if labels is not None else [])],
            n_jobs=model.n_jobs,
        )


def _is_sparse(X: Any) -> bool:
    from scipy import sparse

    return bool(sparse.issparse(X))


def _are_classes(labels: Any) -> bool:
    """Whether labels are classes: some of them equal, and no quantity."""
    import numpy as np

    if labels is None or np.asarray(labels).dtype.kind == "f":
        return False
    words = np.asarray(labels).astype(str)
    words = words[words != ""]
    return 1 < np.unique(words).size <= words.size // 2


def summarise(
    session: Session,
    source: str,
    chosen: Chosen,
    model: Any,
    scores: Any,
    written: list[str],
    seconds: float,
    shape: tuple[int, int] | None = None,
) -> None:
    """Say what was done, chosen and why, how long it took, and how good it is; ``shape`` is that of the coordinates."""
    if not session.console.shows_summary:
        return
    report = model.report_
    n_rows, n_dimensions = model.embedding_.shape if shape is None else shape
    lines = [
        source,
        f"{chosen.method.title}: {n_rows:,} rows to {n_dimensions} dimensions in {seconds:.1f} s",
    ]
    own = {parameter.name for parameter in chosen.method.parameters}
    lines += [
        f"  {flag_of(choice.what) if choice.what in own else choice.what}: {choice.choice} ({choice.why})"
        for choice in report.choices
    ]
    stages = [f"{stage.name} {stage.seconds:.2f} s" for stage in report.stages if stage.depth == 0]
    lines.append(f"  stages: {', '.join(stages)}")
    if scores is not None:
        lines += quality_lines(scores)
    if written:
        lines.append(f"Wrote {', '.join(written)}")
    session.console.say("\n".join(lines))


def quality_lines(scores: Any) -> list[str]:
    """A line for each measure, with its interval where it was sampled, and what it says."""
    from ..metrics.score_results import MEASURES as MEANINGS

    values = {name: str(scores[name]) for name in scores}
    width = max(map(len, values.values()))
    return [
        f"  {name.replace('_', ' '):<18} {value:<{width}}  {MEANINGS[name].format(k=scores.n_neighbors)}"
        for name, value in values.items()
    ]
