"""Embeddings beside each other, and what trust found on pictures, pages, reports and in the program."""

from __future__ import annotations

import json

import numpy as np
import pytest

import lowdim
from lowdim.cli import main
from lowdim.errors import InputError
from lowdim.plotting.labels import table_of
from lowdim.plotting.page import Content
from lowdim.plotting.report import write_report


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((240, 5)) * [4, 3, 1, 0.5, 0.2]


def test_agreement_and_moves_are_those_of_brute_force(X):
    other = X[:, :2] + np.random.default_rng(1).standard_normal((240, 2))
    other[:20] += 15.0
    found = lowdim.compare(X, {"a": X[:, :2], "b": other, "line": X[:, :1]}, n_neighbors=10)
    lists = []
    for Y in (X[:, :2], other):
        D = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
        np.fill_diagonal(D, np.inf)
        lists.append(np.argsort(D, axis=1)[:, :10])
    shared = [len(set(a) & set(b)) / 10 for a, b in zip(*lists, strict=True)]
    np.testing.assert_array_equal(found["agreement: a, b"], shared)
    aligned = lowdim.procrustes(other, X[:, :2])
    assert found.error[0] == pytest.approx(aligned.error)
    width = np.sqrt(((X[:, :2] - X[:, :2].mean(axis=0)) ** 2).sum(axis=1).mean())
    np.testing.assert_allclose(
        found["moved: a, b"], np.linalg.norm(aligned.aligned - X[:, :2], axis=1) / width
    )
    assert np.median(found["moved: a, b"][:20]) > 2 * np.median(found["moved: a, b"][20:])
    assert list(found.to_frame().columns) == found.column_names
    assert "a keeps most" in found.summary()
    assert "a – line" in str(found)
    assert found.as_dict()["pairs"][0]["agreement"] == pytest.approx(np.mean(shared))


def test_a_turned_picture_is_the_same_and_an_unrelated_one_agrees_by_chance(X):
    rng = np.random.default_rng(2)
    found = lowdim.compare(
        X, {"one": X[:, :2], "turned": 3 * X[:, [1, 0]], "other": rng.normal(size=(240, 2))}
    )
    assert found.error[0] < 1e-12
    assert found.agreement[0].min() == 1.0
    assert found.agreement[1].mean() == pytest.approx(found.chance, abs=0.02)


@pytest.mark.parametrize("colour", ["agreement", "recall", "moved"])
def test_it_is_drawn_side_by_side(X, colour, tmp_path):
    found = lowdim.compare(X, {"one": X[:, :2], "other": X[:, 1:3]})
    figure = found.plot(tmp_path / "picture.png", colour=colour)
    assert [axes.get_title() for axes in figure.axes[:2]] == ["one", "other"]
    assert (tmp_path / "picture.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("embeddings", "says"),
    [
        ({"one": np.zeros((240, 2))}, "two or more names to embeddings; got 1 of them"),
        ([np.zeros((240, 2))], "got a list"),
        (
            {"one": np.eye(240)[:, :2], "other": np.eye(239)[:, :2]},
            r"embeddings\['other'\].*239 rows for 240",
        ),
        ({"one": np.eye(240)[:, :2], "other": np.full((240, 2), np.nan)}, "NaN"),
        (
            {"one": np.eye(240)[:, :2], "other": np.eye(240)[:, :2] * 1e200},
            "other.*its largest is 1e.200. Rescale",
        ),
    ],
)
def test_bad_embeddings_say_which(X, embeddings, says):
    with pytest.raises(InputError, match=says):
        lowdim.compare(X, embeddings)


def test_pictures_grey_out_what_is_not_to_be_believed_and_draw_ellipses(X, tmp_path):
    Y = X[:, :2].copy()
    Y[:10] = np.random.default_rng(3).normal(size=(10, 2)) + 30.0
    found = lowdim.trust(X, Y)
    assert found.doubtful[:10].sum() >= 8
    figure = lowdim.plot(Y, np.repeat(["a", "b"], 120), trust=found, ellipses=True)
    points = figure.axes[0].collections[0]
    # What is grey is drawn first, below all else.
    np.testing.assert_allclose(points.get_facecolors()[0, :3], points.get_facecolors()[7, :3])
    assert len(figure.axes[0].collections[1].get_offsets()) > 20
    content = Content.of(Y, table_of(found)["recall"], columns=table_of(found))
    assert {column.name for column in content.columns} >= {"trustworthiness", "q_value", "verdict"}
    lowdim.plot(Y, "recall", trust=found, path=tmp_path / "map.html")
    assert (tmp_path / "map.html").stat().st_size > 10_000
    lowdim.plot(Y, "distortion", columns=found)
    with pytest.raises(InputError, match="it has 240 and the embedding 239"):
        lowdim.plot(Y[1:], trust=found)
    with pytest.raises(InputError, match="ellipses need a picture"):
        lowdim.plot(Y, ellipses=True)
    with pytest.raises(InputError, match="got dict"):
        lowdim.plot(Y, trust={})


def test_an_ellipse_is_as_long_as_the_map_stretches(X):
    flat = np.random.default_rng(4).uniform(size=(2000, 2))
    found = lowdim.trust(flat, flat * [3.0, 1.0])
    drawn = lowdim.plot(flat * [3.0, 1.0], trust=found, ellipses=True).axes[0].collections[1]
    ratio = np.median(drawn._widths / drawn._heights)
    assert ratio == pytest.approx(3.0, rel=0.25)
    along = np.degrees(drawn._angles) % 180
    assert np.median(np.minimum(along, 180 - along)) < 10


def test_reports_and_the_program_say_it_in_a_sentence(X, tmp_path, capsys):
    model = lowdim.PCA(2).fit(X)
    write_report(tmp_path / "report.html", model, X)
    page = (tmp_path / "report.html").read_text()
    assert "How far to believe it" in page
    assert "among their own neighbours more than a random place" in page
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "Y.npy", model.embedding_)
    given = [str(tmp_path / "X.npy"), str(tmp_path / "Y.npy")]
    assert main(["score", *given]) == 0
    assert "among their own neighbours more than" in capsys.readouterr().out
    assert main(["score", *given, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["trust"]["n_points"] == 240
    assert main(["score", *given, "--measures", "continuity", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["trust"] is None
