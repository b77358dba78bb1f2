"""Arrays beside X go through the same gate as X: every form is taken, and what cannot be is refused by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lowdim
from lowdim.errors import InputError, InputTypeError

X = np.random.default_rng(0).standard_normal((40, 3))
LAPLACIAN = np.diag(np.r_[1.0, np.full(38, 2.0), 1.0]) - np.diag(np.ones(39), 1) - np.diag(np.ones(39), -1)
START = X[:, :2].copy()


def start(init: Any) -> Any:
    return lowdim.TSNE(init=init, max_iter=3, perplexity=5).fit(X)


def back(Z: Any) -> Any:
    return lowdim.PCA(2).fit(X).inverse_transform(Z)


def kernel_back(Z: Any) -> Any:
    return lowdim.KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(X).inverse_transform(Z)


def against(noise: Any) -> Any:
    return lowdim.OrientedPCA(2).fit(X, noise=noise)


def truth(values: Any) -> Any:
    return lowdim.sweep(lowdim.PCA(), {"n_components": [2]}, X, truth=values)


def landmarks(values: Any) -> Any:
    return lowdim.Isomap(landmarks=values, n_neighbors=8).fit(X)


def problem(A: Any) -> Any:
    return lowdim.SpectralProblem(A, n_components=1).fit()


def mass(B: Any) -> Any:
    return lowdim.SpectralProblem(LAPLACIAN, B, n_components=1).fit()


def trivial(values: Any) -> Any:
    return lowdim.SpectralProblem(LAPLACIAN, n_components=1, trivial=values).fit()


PLACES = [
    (start, "init", START),
    (back, "X", START),
    (kernel_back, "X", START),
    (against, "noise", X),
    (truth, "truth", X),
    (landmarks, "landmarks", X[:10] + 0.01),
    (problem, "A", LAPLACIAN),
    (mass, "B", np.eye(40)),
    (trivial, "trivial", np.ones((40, 1))),
]


@pytest.mark.parametrize(("use", "name", "good"), PLACES, ids=lambda value: getattr(value, "__name__", ""))
def test_what_is_no_array_of_finite_numbers_is_refused_by_name(use: Any, name: str, good: Any) -> None:
    text = good.astype(object)
    text[1, 0] = "a"
    missing = good.copy()
    missing[1, 0] = np.nan
    with pytest.raises(InputError, match=rf"{name} must hold numbers; {name}\[1, 0\] is the text 'a'"):
        use(text)
    with pytest.raises(InputError, match=rf"{name} .*(NaN|finite)"):
        use(missing)
    with pytest.raises(
        (InputError, InputTypeError), match=rf"{name} must (be data|have two dimensions|be indices)"
    ):
        use(Path("start.npy") if use is not landmarks else good[:, :, None])
    with pytest.raises((InputError, InputTypeError), match=rf"{name} .*LazyFrame"):
        use(pl.DataFrame(good).lazy())


@pytest.mark.parametrize(("use", "name", "good"), PLACES, ids=lambda value: getattr(value, "__name__", ""))
def test_frames_lists_and_tensors_give_what_the_array_gives(use: Any, name: str, good: Any) -> None:
    def found(given: Any) -> Any:
        made = use(given)
        return getattr(made, "embedding_", made)

    expected = found(good)
    for form in (pd.DataFrame(good), pl.DataFrame(good), good.tolist()):
        got = found(form)
        if isinstance(expected, np.ndarray):
            assert np.array_equal(got, expected)
        else:
            assert got.rows[0]["status"] == "ok"


def test_one_column_may_be_a_series() -> None:
    expected = mass(np.full(40, 2.0)).embedding_
    assert np.array_equal(mass(pd.Series(np.full(40, 2.0))).embedding_, expected)
    assert truth(pd.Series(X[:, 0])).rows[0]["status"] == "ok"


def test_wrong_shapes_say_what_is_wanted() -> None:
    with pytest.raises(InputError, match=r"init must have a row for each row of X.*\(40, 2\); got \(39, 2\)"):
        start(START[:-1])
    with pytest.raises(InputError, match=r"init of TSNE must be one of 'auto'.*an array of numbers; got 3"):
        start(3)
    with pytest.raises(InputError, match="homotopy must hold numbers"):
        lowdim.TSNE(homotopy=["a", "b"]).fit(X)


def test_a_start_in_another_form_is_told_apart_by_its_numbers(tmp_path: Path) -> None:
    """Checkpoints compare parameters: the text of a frame or tensor leaves most of its numbers out."""
    long = np.random.default_rng(0).standard_normal((2000, 2))
    other = long.copy()
    other[1000, 0] += 1
    texts = [
        lowdim.TSNE(init=pd.DataFrame(values))._identity(lowdim.data.rows.Rows(X)).texts()["init"]
        for values in (long, long.copy(), other)
    ]
    assert texts[0] == texts[1] != texts[2]
