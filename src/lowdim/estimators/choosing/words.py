"""What a parameter may be that can be left open: the criteria by which it is chosen, the usual one first."""

from __future__ import annotations

from ...core.rules import ByItself, Either, Nothing, Real, Rule, Whole

QUALITIES = ("recall_area", "trustworthiness")
"""Criteria that look at the embeddings of several values."""


def neighbors_rule(fewest: int) -> Rule:
    """What ``n_neighbors`` may be."""
    return Either(Whole(fewest), ByItself(*QUALITIES, "connected"), Nothing())


def perplexity_rule(*criteria: str) -> Rule:
    """What ``perplexity`` may be; criteria of its own come first."""
    return Either(Real(0), ByItself(*criteria, *QUALITIES), Nothing())


def components_rule(*criteria: str) -> Rule:
    """What ``n_components`` may be."""
    return Either(Whole(1), ByItself("dimension", *criteria))
