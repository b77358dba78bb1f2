"""Leave-one-out accuracy against scikit-learn's classifier."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from lowdim.errors import InputError
from lowdim.metrics import nearest_neighbor_error, neighbor_accuracy, score


def test_it_is_leave_one_out(digits):
    data, labels = digits[0][:100], digits[1][:100]
    expected = cross_val_score(KNeighborsClassifier(4), data, labels, cv=LeaveOneOut()).mean()
    assert neighbor_accuracy(data, labels, 4) == pytest.approx(expected)


def test_labels_may_be_names_and_copies_are_others():
    points = np.repeat(np.arange(4.0), 3)
    names = np.repeat(["a", "b", "c", "d"], 3)
    assert neighbor_accuracy(points, names, 2) == 1.0
    assert neighbor_accuracy(points, np.roll(names, 1), 1) < 1.0


def test_blocks_do_not_show(digits, monkeypatch):
    data, labels = digits[0][:200, :20], digits[1][:200]
    whole = neighbor_accuracy(data, labels)
    monkeypatch.setattr(sys.modules[neighbor_accuracy.__module__], "_BLOCK_ENTRIES", 70)
    assert neighbor_accuracy(data, labels) == whole


@pytest.mark.parametrize(
    ("points", "labels", "k"), [(np.zeros((5, 2)), np.zeros(4), 2), (np.zeros((5, 2)), np.zeros(5), 5)]
)
def test_wrong_input_is_named(points, labels, k):
    with pytest.raises(InputError, match="neighbor_accuracy"):
        neighbor_accuracy(points, labels, k)


@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("held", [np.asarray, csr_array])
def test_error_on_a_test_set_is_that_of_sklearn(digits, k, held):
    data, labels = digits
    classifier = KNeighborsClassifier(k).fit(data[:600, ::2] * np.pi, labels[:600])
    expected = 1 - classifier.score(data[600:900, ::2] * np.pi, labels[600:900])
    train, test = held(data[:600, ::2] * np.pi), held(data[600:900, ::2] * np.pi)
    found = nearest_neighbor_error(train, labels[:600], test, labels[600:900], k)
    assert found == pytest.approx(expected, abs=0.005 if k > 1 else 1e-12)


def test_unknown_labels_are_errors():
    assert nearest_neighbor_error([0.0, 1.0], ["a", "b"], [0.1, 0.9], ["a", "c"]) == 0.5
    assert nearest_neighbor_error([[0.0]], [1], [[3.0], [4.0]], [2, 2]) == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(3), [0, 1], np.eye(3), [0, 1, 2]), "train_labels of nearest_neighbor_error .* 3 points"),
        ((np.eye(3), [0, 1, 2], np.eye(3), [0, 1]), "test_labels of nearest_neighbor_error"),
        (
            (np.eye(3), [0, 1, 2], np.eye(2), [0, 1]),
            "test of nearest_neighbor_error must have as many columns",
        ),
        ((np.eye(3), [0, 1, 2], np.eye(3), ["0", "1", "2"]), "of the type of train_labels"),
        (
            (np.eye(3), [0, 1, 2], np.eye(3) * np.nan, [0, 1, 2]),
            "test of nearest_neighbor_error must hold finite",
        ),
        ((np.eye(3), [0, 1, np.nan], np.eye(3), [0, 1, 2]), "1 are missing, the first at place 2"),
        ((np.eye(3), [0, 1, 2], np.eye(3), [0, 1, 2], 4), "k of nearest_neighbor_error .* from 1 to 3"),
        ((np.eye(3), [0, 1, 2], np.zeros((0, 3)), []), "a minimum of 1 is required"),
    ],
)
def test_wrong_test_sets_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        nearest_neighbor_error(*arguments)


def test_points_without_a_label_are_not_asked_and_do_not_vote(digits):
    data, labels = digits[0][:200, ::3], digits[1][:200].astype(object)
    labels[::3] = None
    is_known = np.array([label is not None for label in labels])
    distances = np.square(data[:, None] - data[None]).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    hits = []
    for row in np.flatnonzero(is_known):
        nearest = distances[row].argsort(kind="stable")[:15]
        votes = np.bincount(labels[nearest[is_known[nearest]]].astype(int), minlength=10)
        hits.append(votes.argmax() == labels[row])
    found = score(digits[0][:200], data, labels, measures=["neighbor_accuracy"]).neighbor_accuracy
    assert found == pytest.approx(np.mean(hits))
