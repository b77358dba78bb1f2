"""Leave-one-out accuracy against scikit-learn's classifier."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from lowdim.errors import InputError
from lowdim.metrics import neighbor_accuracy


def test_it_is_leave_one_out(digits):
    data, labels = digits[0][:150], digits[1][:150]
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
