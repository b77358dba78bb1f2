"""The local metric on patches whose stretch is known, and distances between clusters that are."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim


def patch(n=40, seed=None):
    """A flat square, turned into five dimensions: a grid, or points at random."""
    if seed is None:
        flat = np.stack(np.meshgrid(np.arange(n), np.arange(n)), axis=-1).reshape(-1, 2).astype(float)
    else:
        flat = np.random.default_rng(seed).uniform(0, n, size=(n * n, 2))
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 2)))[0]
    return flat, flat @ turn.T


def inside(flat, margin=6):
    return np.all((flat > margin) & (flat < flat.max() - margin), axis=1)


@pytest.mark.parametrize("stretch", [(1.0, 1.0), (3.0, 0.5)])
def test_the_metric_of_a_patch_is_its_stretch(stretch):
    flat, X = patch()
    # 48 neighbours of a grid are whole shells: no direction has more of them.
    found = lowdim.trust(X, flat * stretch, scales=48)
    middle = inside(flat)
    wanted = np.diag(np.square(stretch))
    np.testing.assert_allclose(
        found.dual[middle], np.broadcast_to(wanted, (middle.sum(), 2, 2)), rtol=0.02, atol=0.02
    )
    np.testing.assert_allclose(
        found.metric[middle], np.broadcast_to(np.linalg.inv(wanted), (middle.sum(), 2, 2)), atol=0.1
    )
    assert np.median(found.distortion[middle]) == pytest.approx(stretch[0] / stretch[1], rel=0.02)


def test_at_random_points_it_is_so_on_average():
    flat, X = patch(seed=1)
    found = lowdim.trust(X, flat * [2.0, 1.0])
    mean = np.median(found.dual[inside(flat)], axis=0)
    np.testing.assert_allclose(mean, [[4.0, 0.0], [0.0, 1.0]], atol=0.15)


def test_magnification_says_where_the_map_takes_more_area():
    flat, X = patch(seed=1)
    bent = flat.copy()
    right = flat[:, 0] > 20
    bent[right, 0] = 20 + 3.0 * (flat[right, 0] - 20)
    found = lowdim.trust(X, bent)
    far = np.abs(flat[:, 0] - 20) > 6
    ratio = np.median(found.magnification[right & far]) / np.median(found.magnification[~right & far])
    assert ratio == pytest.approx(3.0, rel=0.1)


def three(n, centres, seed):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(size=(n, len(centre))) + centre for centre in centres])


def test_clusters_that_are_to_scale_agree_and_one_that_was_moved_does_not():
    centres = np.array([[0.0, 0, 0], [30, 0, 0], [0, 30, 0]])
    X, labels = three(150, centres, 0), np.repeat(["a", "b", "c"], 150)
    same = lowdim.trust(X, 5.0 * X[:, :2], labels=labels).clusters
    assert [pair.agreement for pair in same] == ["agrees"] * 3
    moved = X[:, :2].copy()
    moved[labels == "c"] += [0, 120]
    pairs = {(pair.first, pair.second): pair for pair in lowdim.trust(X, moved, labels=labels).clusters}
    assert pairs["a", "b"].agreement == "shown too near"
    assert pairs["a", "c"].agreement == "shown too far"
    for pair in pairs.values():
        assert pair.low <= pair.ratio <= pair.high


def test_intervals_of_clusters_cover_the_truth():
    """Few points of wide clusters: the ratio of mean distances of many is nearly always within the interval."""
    rng = np.random.default_rng(0)
    covered = []
    truth = None
    for size in (20_000, *[40] * 60):
        centres = np.array([[0.0, 0, 0, 0], [6, 0, 0, 0], [0, 4, 3, 0]])
        X = np.concatenate([rng.normal(size=(size, 4)) * 2 + centre for centre in centres])
        labels = np.repeat([0, 1, 2], size)
        if truth is None:
            chosen = rng.integers(size, size=(2, 20_000))
            means = []
            for a, b in ((0, 1), (0, 2), (1, 2)):
                difference = X[a * size + chosen[0]] - X[b * size + chosen[1]]
                means.append(
                    np.linalg.norm(difference[:, :2], axis=1).mean()
                    / np.linalg.norm(difference, axis=1).mean()
                )
            truth = np.array(means) / np.exp(np.log(means).mean())
            continue
        table = lowdim.trust(X, X[:, :2], labels=labels, scales=5).clusters
        covered += [pair.low <= value <= pair.high for pair, value in zip(table, truth, strict=True)]
    assert np.mean(covered) > 0.9
