"""``lowdim embed``: what is written, what is said, what the options become."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from PIL import Image

import lowdim
from lowdim.cli.commands import embed
from lowdim.cli.options.build import build, described, read_extra
from lowdim.cli.options.method import choose

LABELLED = "embed points.csv --label kind --id name"


def made(line: str):
    words = line.split()[1:]
    options = embed.make_parser(words).parse(words)
    return build(options.chosen, options)


def test_coordinates_are_those_of_the_library(lowdim_command, table):
    answer = lowdim_command("embed points.npy -m isomap -k 8 -d 3 -o out.npy")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    expected = lowdim.Isomap(3, n_neighbors=8).fit_transform(table[0])
    np.testing.assert_array_equal(np.load("out.npy"), expected)


@pytest.mark.parametrize(
    ("source", "target"), [("points.npy", "points.embedding.npy"), ("points.csv", "points.embedding.csv")]
)
def test_without_an_output_it_is_named_after_the_data(lowdim_command, folder, source, target):
    options = "" if source.endswith("npy") else "--label kind --id name"
    assert lowdim_command(f"embed {source} {options} -m pca").code == 0
    assert (folder / target).exists()


def test_ids_and_labels_go_along(lowdim_command, folder):
    assert lowdim_command(f"{LABELLED} -m pca -o out.csv").code == 0
    rows = list(csv.DictReader((folder / "out.csv").read_text().splitlines()))
    assert len(rows) == 60
    assert (rows[31]["name"], rows[31]["kind"]) == ("p31", "blue")
    assert {"x", "y"} <= set(rows[0])


def test_standard_output_has_the_coordinates_alone(lowdim_command):
    answer = lowdim_command(f"{LABELLED} -m pca -o - -v")
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert len(rows) == 60
    assert "Principal component analysis: 60 rows to 2 dimensions" in answer.err


def test_standard_input_gives_standard_output(lowdim_command, folder, monkeypatch):
    text = (folder / "points.csv").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    answer = lowdim_command("embed - --label kind --id name -m pca")
    assert answer.code == 0
    assert answer.out.count("\n") == 61


def test_every_result_at_once(lowdim_command, folder):
    answer = lowdim_command(
        f"{LABELLED} -m tsne --max-iter 20 --perplexity 8 -o a.csv --plot a.png --plot a.svg --plot a.html "
        "--plot a.gif --model a.lowdim --report report.html --json a.json -v"
    )
    assert answer.code == 0, answer.err
    for name in ("a.csv", "a.png", "a.svg", "a.html", "a.gif", "a.lowdim", "report.html"):
        assert (folder / name).stat().st_size > 0
        assert name in answer.err
    report = json.loads((folder / "a.json").read_text())
    assert report["written"] == ["a.csv", "a.lowdim", "a.png", "a.svg", "a.html", "a.gif", "report.html"]
    assert report["parameters"] == {"--perplexity": 8, "--max-iter": 20, "--record": 5}
    assert report["interrupted"] is False
    assert 0 <= report["quality"]["measures"]["neighbor_accuracy"]["value"] <= 1
    assert report["command"].startswith("lowdim embed points.csv --label kind")
    assert answer.out == ""


@pytest.mark.parametrize("objective", ["", "--objective elastic-embedding --lam 10"])
def test_a_page_of_a_family_has_all_of_its_positions(lowdim_command, folder, objective):
    answer = lowdim_command(
        f"{LABELLED} -m neighbor-spectrum {objective} --perplexity 8 --positions 0,1,2 --position 1 --max-iter 5 "
        "--plot a.html --plot a.gif -o a.csv"
    )
    assert answer.code == 0, answer.err
    page = (folder / "a.html").read_text()
    assert 'class="ld-frame" type="range" min="0" max="2"' in page
    with Image.open(folder / "a.gif") as moving:
        assert moving.n_frames == 3


def test_json_on_standard_output(lowdim_command, folder):
    answer = lowdim_command("embed points.npy -m pca --no-quality --json")
    report = json.loads(answer.out)
    assert report["method"] == "pca"
    assert report["quality"] is None
    assert report["input"]["shape"] == [60, 4]
    assert (folder / "points.embedding.npy").exists()


def test_clusters_are_written_and_drawn(lowdim_command, folder):
    line = (
        "embed points.npy -m spectral-clustering --n-clusters 4 -k 5 -o out.csv --plot out.html --no-quality"
    )
    assert lowdim_command(line).code == 0
    clusters = [row["cluster"] for row in csv.DictReader((folder / "out.csv").read_text().splitlines())]
    assert set(clusters) == {"0", "1", "2", "3"}


def test_thumbnails(lowdim_command, folder):
    np.save(folder / "images.npy", np.random.default_rng(0).random((60, 4, 4)))
    assert (
        lowdim_command("embed points.npy -m pca --plot a.html --images images.npy --report r.html").code == 0
    )
    assert lowdim_command("embed points.npy -m pca --plot b.png --images data").code == 0
    (folder / "images.csv").write_text("\n".join(["1,0,0,1"] * 60) + "\n")
    assert lowdim_command("embed points.npy -m pca --plot c.html --images images.csv").code == 0
    np.save(folder / "words.npy", np.array([{}]), allow_pickle=True)
    answer = lowdim_command("embed points.npy -m pca --plot d.html --images words.npy")
    assert answer.code == 1
    assert "words.npy: is no array of numbers" in answer.err


QUICK = "--max-iter 20 --repulsion exact"


@pytest.mark.parametrize("column", ["kind", "5", "-1"])
def test_a_column_is_followed(lowdim_command, folder, table, column):
    line = f"embed points.csv --id name -m umap {QUICK} --target {column} -o out.csv"
    assert lowdim_command(line).code == 0
    lines = (folder / "points.csv").read_text().splitlines()[1:]
    rows = [[float(value) for value in line.split(",")[1:5]] for line in lines]
    expected = lowdim.UMAP(max_iter=20, repulsion="exact").fit(np.array(rows), table[1]).embedding_
    found = list(csv.DictReader((folder / "out.csv").read_text().splitlines()))
    np.testing.assert_allclose([[float(row["x"]), float(row["y"])] for row in found], expected, rtol=1e-5)
    assert {row["kind"] for row in found} == {"red", "blue"}


def test_a_column_of_numbers_is_followed_beside_a_label(lowdim_command, folder):
    line = f"embed points.csv --id name --label kind -m tsne --perplexity 5 {QUICK} --target d -o out.csv"
    refused = lowdim_command(line)
    assert refused.code == 1
    assert "--target must hold labels" in refused.err
    assert "--target-metric euclidean" in refused.err
    assert (
        "--target: points.csv has no column 'age'"
        in lowdim_command(line.replace("--target d", "--target age")).err
    )
    assert lowdim_command(f"{line} --target-metric euclidean --json run.json").code == 0
    run = json.loads((folder / "run.json").read_text())
    assert run["parameters"]["--target-weight"] == 0.5
    assert run["input"]["shape"] == [60, 3]
    assert run["input"]["label"] == "kind"


def test_what_follows_no_column_says_so(lowdim_command):
    answer = lowdim_command("embed points.csv --id name -m pacmap --target kind -o out.csv")
    assert answer.code == 2
    assert "no use for --target-weight" in answer.err
    assert "--target" in lowdim_command("embed points.csv -m pca --target kind").err


def test_noise_of_oriented_pca(lowdim_command, folder, table):
    np.save(folder / "noise.npy", table[0][::2])
    assert lowdim_command("embed points.npy -m oriented-pca --noise noise.npy -o out.npy").code == 0
    expected = lowdim.OrientedPCA().fit(table[0], noise=table[0][::2]).embedding_
    np.testing.assert_array_equal(np.load("out.npy"), expected)


def test_a_summary_says_what_was_chosen_and_why(lowdim_command):
    answer = lowdim_command(f"{LABELLED} -m laplacian-eigenmaps -v")
    assert "points.csv: 60 rows, 4 features, labels from 'kind'" in answer.err
    assert "--n-neighbors: 10 (the default)" in answer.err
    assert "  trustworthiness    0." in answer.err
    assert "Wrote points.embedding.csv" in answer.err
    assert "  solve: 0." in answer.err


def test_quality_is_left_out_where_distances_are_not_known(lowdim_command, folder):
    graph = (np.abs(np.subtract.outer(np.arange(40), np.arange(40))) == 1).astype(float)
    np.save(folder / "graph.npy", graph)
    answer = lowdim_command("embed graph.npy -m laplacian-eigenmaps --metric graph -d 1 -v")
    assert answer.code == 0
    assert "trustworthiness" not in answer.err


def test_quality_of_distances(lowdim_command, folder, table):
    from scipy.spatial.distance import cdist

    np.save(folder / "distances.npy", cdist(table[0], table[0]))
    answer = lowdim_command("embed distances.npy -m isomap --metric precomputed -k 20 --quality -v")
    assert "  trustworthiness  " in answer.err


def test_labels_that_are_quantities_colour_but_are_not_told(lowdim_command, folder):
    answer = lowdim_command("embed points.csv --label a --id name --drop kind -m pca --plot a.png -v")
    assert answer.code == 0
    assert "trustworthiness" in answer.err
    assert "accuracy" not in answer.err


def test_what_is_no_feature_is_named(lowdim_command, folder, table):
    line = "embed points.csv --label kind --label d --id name -m pca -v"
    assert "3 features, labels from 'kind'; not features: d\n" in lowdim_command(line).err


def test_sparse_rows_with_gaps(lowdim_command, folder):
    from scipy import sparse

    X = sparse.random_array((40, 6), density=0.5, rng=np.random.default_rng(0), format="csr")
    X.data[3] = np.nan
    sparse.save_npz(folder / "sparse.npz", X)
    answer = lowdim_command("embed sparse.npz -m pca")
    assert answer.code == 1
    assert "sparse.npz: 1 of 40 rows have missing or infinite values, first in row 1, column 0" in answer.err


def test_figures_of_numpy_are_plain_in_json():
    from lowdim.cli.files.targets import plain

    given = {"a": np.float32(1.5), "b": np.array([1.0, np.nan]), "c": (np.inf, {1}), 3: lowdim.Binary()}
    expected = {"a": 1.5, "b": [1.0, None], "c": [None, [1]], "3": "Binary(symmetrize='union')"}
    assert plain(given) == expected


def test_warnings_are_said_even_in_a_pipeline(lowdim_command, folder, table):
    np.save(folder / "apart.npy", table[0] + np.repeat([[0.0], [90.0]], 30, axis=0))
    answer = lowdim_command("embed apart.npy -m laplacian-eigenmaps -k 9 -o out.npy")
    assert answer.code == 0
    assert answer.err.startswith("Warning: The neighbour graph has 2 components")
    assert "raise --n-neighbors or --radius, or see --on-disconnected" in answer.err
    quiet = lowdim_command("embed apart.npy -m laplacian-eigenmaps -k 9 -o out.npy --force -q")
    assert quiet.err == ""


def test_all_there_is_with_vv(lowdim_command):
    answer = lowdim_command("embed points.npy --max-iter 12 --perplexity 5 -o out.npy -vv")
    assert "iteration 12: E" in answer.err


def test_a_terminal_gets_bars_and_a_summary(lowdim_command, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    answer = lowdim_command("embed points.npy --max-iter 12 --perplexity 5 -o out.npy")
    assert answer.code == 0
    assert "t-SNE: 60 rows to 2 dimensions" in answer.err


def test_options_become_parameters():
    model = made(
        "embed points.npy -m laplacian-eigenmaps --seed 3 --threads 1 --memory-limit 6GB --bandwidth 2"
    )
    assert (model.random_state, model.n_jobs, model.memory_limit, model.bandwidth) == (3, 1, "6GB", 2)
    assert made("embed x -m pca --whiten").whiten is True
    assert made("embed x -m pca --no-whiten -d none").n_components is None
    assert made("embed x -m pca -d 0.9").n_components == 0.9
    assert made("embed x --homotopy 0.1,0.5").homotopy == [0.1, 0.5]
    assert (
        made("embed x --optimizer momentum --optimizer-learning-rate auto").optimizer.learning_rate == "auto"
    )
    assert made("embed x --homotopy none").homotopy is None
    assert made("embed x --optimizer LBFGS").optimizer == "lbfgs"


def test_parts_become_configured_objects():
    model = made(
        "embed x -m laplacian-eigenmaps --solver lll --landmarks 200 --solver-polish 5 --affinity gaussian"
    )
    assert repr(model.solver) == "LLL(200, polish=5)"
    assert model.affinity == lowdim.Gaussian()
    model = made("embed x -m laplacian-eigenmaps --affinity self-tuning --affinity-k 3")
    assert model.affinity == lowdim.SelfTuning(3)
    model = made(
        "embed x --repulsion barnes-hut --repulsion-theta 0.3 --optimizer lbfgs --optimizer-memory 7"
    )
    assert model.repulsion == lowdim.BarnesHut(0.3)
    assert model.optimizer.direction.memory == 7
    model = made("embed x --optimizer momentum --no-optimizer-gains --optimizer-learning-rate 3")
    assert (model.optimizer.gains, model.optimizer.learning_rate) == (False, 3)
    assert made("embed x -m lle --solver lll").solver == "lll"


def test_landmarks_belong_to_the_solver_that_is_named(folder):
    assert made("embed x -m isomap --landmarks 30").landmarks == 30
    model = made("embed x -m isomap --solver lll --landmarks 30")
    assert model.landmarks is None
    assert repr(model.solver) == "LLL(30)"
    np.save("rows.npy", np.arange(0, 60, 3)[:, None])
    np.testing.assert_array_equal(
        made("embed x -m isomap --landmarks rows.npy").landmarks, np.arange(0, 60, 3)
    )
    model = made("embed x -m isomap --solver lll --landmarks rows.npy")
    np.testing.assert_array_equal(model.solver.landmarks, np.arange(0, 60, 3))


def test_a_start_from_a_file(folder, table):
    np.save("start.npy", table[0][:, :2])
    np.testing.assert_array_equal(made("embed x --init start.npy").init, table[0][:, :2])
    assert made("embed x --init random").init == "random"


def test_parameters_are_described_by_their_options():
    model = lowdim.Isomap(3, n_neighbors=5, solver=lowdim.LLL(20), callback=print)
    assert described(model) == {"--n-components": 3, "--n-neighbors": 5, "--solver": "LLL(20)"}


def test_no_further_data_is_read_where_none_is_named():
    options = embed.make_parser(["x", "-m", "oriented-pca"]).parse(["x", "-m", "oriented-pca"])
    assert read_extra(choose(["-m", "oriented-pca"]), options) == {}


def test_parameters_are_left_open_in_the_shell_too(lowdim_command, table):
    answer = lowdim_command("embed points.npy -m isomap -k auto:connected -d auto -o out.npy -v")
    model = lowdim.Isomap("auto", n_neighbors="auto:connected").fit(table[0])
    np.testing.assert_array_equal(np.load("out.npy"), model.embedding_)
    assert f"--n-neighbors: {model.n_neighbors_} (the graph is connected from" in answer.err
    assert lowdim_command("plan points.npy -m tsne --perplexity auto").out.count("choose perplexity") == 1
    wrong = lowdim_command("embed points.npy -m isomap -k auto:all -o other.npy")
    assert (wrong.code, "or one of auto, auto:recall_area" in wrong.err) == (2, True)
