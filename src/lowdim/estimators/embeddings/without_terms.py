"""Parameters of the common neighbour embedding that some presets have no use for."""

from __future__ import annotations

from typing import Any

from ...core.messages import named, setting
from ...errors import InputError


def refuse_terms(estimator: Any) -> None:
    """Refuse targets and densities, for a preset whose graph and function have no place for them."""
    for name in ("target_weight", "density"):
        if given := getattr(estimator, name):
            raise InputError(
                f"{type(estimator).__name__} has no use for {named(name)}; got {setting(name, given)}. "
                f"Use {setting(name, 0)}, or another method, such as UMAP."
            )
