"""What was done, in a few lines."""

from __future__ import annotations

from typing import Any

from .options import Chosen
from .session import Session
from .translate import in_options


def summarise(
    session: Session, source: str, chosen: Chosen, model: Any, scores: Any, written: list[str], seconds: float
) -> None:
    """Say what was done, chosen and why, how long it took, and how good it is."""
    if not session.voice.is_heard:
        return
    report = model.report_
    n_rows, n_dimensions = model.embedding_.shape
    lines = [
        source,
        f"{chosen.method.title}: {n_rows:,} rows to {n_dimensions} dimensions in {seconds:.1f} s",
    ]
    choices = [f"  {choice.what}: {choice.choice} ({choice.why})" for choice in report.choices]
    lines += [in_options(line, chosen.flags()) for line in choices]
    stages = [f"{stage.name} {stage.seconds:.2f} s" for stage in report.stages if stage.depth == 0]
    lines.append(f"  stages: {', '.join(stages)}")
    if scores is not None:
        lines += quality_lines(scores)
    if written:
        lines.append(f"Wrote {', '.join(written)}")
    session.voice.say("\n".join(lines))


def quality_lines(scores: Any) -> list[str]:
    """A line for each measure, with its interval where it was sampled, and what it says."""
    from ..metrics.scores import MEASURES

    values = {name: str(scores[name]) for name in scores}
    width = max(map(len, values.values()))
    return [
        f"  {name.replace('_', ' '):<18} {value:<{width}}  {MEASURES[name].format(k=scores.n_neighbors)}"
        for name, value in values.items()
    ]
