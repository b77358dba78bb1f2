"""Labels and other arrays for people: every form is taken, and what cannot be is refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lowdim
from lowdim.errors import InputError, InputTypeError
from lowdim.metrics import nearest_neighbor_error

X = np.random.default_rng(0).standard_normal((30, 4))
EMBEDDING = X[:, :2]
CODES = np.arange(30) % 3
NAMES = np.array(["a", "b", "c"])[CODES]


def score(y: Any) -> Any:
    return lowdim.score(X, EMBEDDING, y, measures=["neighbor_accuracy"], n_neighbors=5)


def sweep(y: Any) -> Any:
    return lowdim.sweep(lowdim.PCA(), {"n_components": [2]}, X, y, score="labels").rows[0]["test_error"]


def error(labels: Any) -> Any:
    return nearest_neighbor_error(EMBEDDING, labels, X[:, 1:3], labels)


def plot(labels: Any) -> Any:
    return len(lowdim.plot(EMBEDDING, labels).legends[0].get_texts())


def column(labels: Any) -> Any:
    return len(lowdim.plot(EMBEDDING, "k", columns={"k": labels}).legends[0].get_texts())


FORMS = {
    "list": CODES.tolist(),
    "tuple": tuple(NAMES.tolist()),
    "bool": CODES > 0,
    "series": pd.Series(NAMES, index=range(100, 130)),
    "category": pd.Series(pd.Categorical(NAMES)),
    "frame": pd.DataFrame({"k": NAMES}),
    "column": CODES[:, None],
    "polars": pl.Series("k", NAMES),
    "polars category": pl.Series("k", NAMES, dtype=pl.Categorical),
}
WRONG = {
    "too few": (CODES[:20], InputError, r"must hold one label for each of the 30 points; got .*20"),
    "two columns": (
        np.c_[CODES, CODES],
        InputError,
        r"must hold one label for .*\(30, 2\)\. Give one of its",
    ),
    "ragged": ([[1, 2], [3]] * 15, InputError, "entries are lists of different lengths"),
    "mapping": ({"k": NAMES}, InputTypeError, r"of type dict with the keys \['k'\]"),
    "generator": ((name for name in NAMES), InputTypeError, "of type generator"),
    "number": (3, InputTypeError, "of type int, 3"),
}
MISSING = {
    "NaN": np.where(CODES == 1, np.nan, CODES),
    "None": [None if name == "b" else name for name in NAMES],
    "NaN among texts": [float("nan") if name == "b" else name for name in NAMES.tolist()],
    "NA": pd.Series(NAMES, dtype="string").mask(NAMES == "b"),
    "category": pd.Series(pd.Categorical.from_codes(np.where(CODES == 1, -1, CODES), ["a", "b", "c"])),
    "masked": np.ma.masked_array(CODES, mask=CODES == 1),
    "masked texts": np.ma.masked_array(NAMES, mask=CODES == 1),
}


@pytest.mark.parametrize("use", [score, sweep, error, plot, column])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.every(2)
def test_every_form_gives_what_codes_give(use: Any, form: str) -> None:
    plain = (CODES > 0).astype(int) if form == "bool" else CODES
    assert use(FORMS[form]) == use(plain)


@pytest.mark.parametrize(
    ("use", "name"),
    [
        (score, "y of score"),
        (sweep, "y of sweep"),
        (error, "train_labels of nearest_neighbor_error"),
        (plot, "labels"),
        (column, r"(columns\['k'\]|labels)"),
    ],
)
@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_is_refused_by_name(use: Any, name: str, case: str) -> None:
    given, kind, words = WRONG[case]
    with pytest.raises(kind, match=rf"^{name} must .*{words.removeprefix('must ')}"):
        use(given)


@pytest.mark.parametrize("case", MISSING)
def test_missing_labels_are_named_where_they_count_and_drawn_grey_elsewhere(case: str) -> None:
    with pytest.raises(
        InputError, match=r"train_labels of .* must have a label in every place; 10 are missing, the first at"
    ):
        error(MISSING[case])
    assert score(MISSING[case]).neighbor_accuracy is not None
    plot(MISSING[case])


def test_at_least_some_labels_are_there() -> None:
    with pytest.raises(InputError, match="y of score must have a label in every place; 30 are missing"):
        score([None] * 30)


def test_labels_that_are_not_used_may_be_anything_of_that_length() -> None:
    for y in (np.c_[CODES, CODES], MISSING["None"]):
        lowdim.sweep(lowdim.PCA(), {"n_components": [2]}, X, y, score="trustworthiness")
    with pytest.raises(InputError, match="y of sweep must hold one entry for each of the 30 rows of X"):
        lowdim.sweep(lowdim.PCA(), {"n_components": [2]}, X, CODES[:9], score="trustworthiness")


@pytest.mark.parametrize("ids", [NAMES[:9], {"a": 1}, 3])
def test_names_of_points_on_a_page(ids: Any, tmp_path: Any) -> None:
    with pytest.raises((InputError, InputTypeError), match=r"^ids must "):
        lowdim.plot(EMBEDDING, ids=ids, path=tmp_path / "map.html")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (NAMES, "embedding must hold numbers; got text"),
        (X, r"embedding must have 1, 2 or 3 columns to be drawn; got shape \(30, 4\)"),
        ({1, 2}, "embedding must be data, points as rows.* got an object of type set"),
        ([[1, 2], [3]], "embedding must have rows of one length"),
        (EMBEDDING * 1j, "embedding must hold real numbers"),
        (
            EMBEDDING * np.inf,
            r"embedding must hold finite coordinates of at most 1e\+30 to be drawn; 30 rows",
        ),
        (EMBEDDING * 1e40, "the first is row 0. Leave them out, or rescale embedding"),
        (np.ma.masked_array(EMBEDDING, mask=EMBEDDING > 0), "embedding must have a number in every place"),
    ],
)
def test_coordinates_that_cannot_be_drawn(given: Any, words: str) -> None:
    with pytest.raises((InputError, InputTypeError), match=words):
        lowdim.plot(given)


def test_images_that_are_none() -> None:
    with pytest.raises(InputError, match=r"^images must hold one entry for each point"):
        lowdim.plot(EMBEDDING, images=[[1, 2], [3]] * 15)


@pytest.mark.parametrize("portion", [[[1, 2], [3]], {"a": 1}, "half", np.array(["a"]), np.full(30, np.nan)])
def test_portions_that_name_no_rows(portion: Any) -> None:
    with pytest.raises(InputError, match="test of sweep must be a share of the rows below 1") as caught:
        lowdim.sweep(lowdim.PCA(), {"n_components": [2]}, X, CODES, score="labels", test=portion)
    assert len(str(caught.value)) < 250
