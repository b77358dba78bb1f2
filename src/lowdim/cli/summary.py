"""What was done, in a few lines."""

from __future__ import annotations

from typing import Any

from .options import Chosen
from .session import Session
from .translate import in_options

WORDS = {
    "trustworthiness": "shown near and near in the data",
    "continuity": "near in the data and shown near",
    "neighbor_recall": "nearest {k} kept",
    "neighbor_accuracy": "labels told by the nearest {k}",
}


def summarise(
    session: Session, source: str, chosen: Chosen, model: Any, scores: Any, written: list[str], seconds: float
) -> None:
    """Say what was done, chosen and why, how long it took, and how good it is."""
    if not session.voice.is_heard:
        return
    report = model.report_
    n_rows, n_dimensions = model.embedding_.shape
    lines = [source, f"{chosen.method.title}: {n_rows:,} x {n_dimensions} coordinates in {seconds:.1f} s"]
    choices = [f"  {choice.what}: {choice.choice} ({choice.why})" for choice in report.choices]
    lines += [in_options(line, chosen.flags()) for line in choices]
    stages = [f"{stage.name} {stage.seconds:.2f} s" for stage in report.stages if stage.depth == 0]
    lines.append(f"  stages: {', '.join(stages)}")
    if scores is not None:
        lines.append(f"  quality: {quality_line(scores)}")
    if written:
        lines.append(f"Wrote {', '.join(written)}")
    session.voice.say("\n".join(lines))


def quality_line(scores: Any) -> str:
    """The measures on one line, with their intervals where they were sampled."""
    return ", ".join(
        f"{name.replace('_', ' ')} {scores[name]} ({WORDS[name].format(k=scores.n_neighbors)})"
        if name in WORDS
        else f"{name} {scores[name]}"
        for name in scores
    )
