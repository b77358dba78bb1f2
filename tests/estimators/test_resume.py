"""Fits and sweeps that are cut at every place where they keep something, and go on: the same bits as if never cut."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import lowdim
from lowdim import LLL, TSNE, ElasticEmbedding, Isomap, LaplacianEigenmaps, SymmetricSNE
from lowdim.core import run as running
from lowdim.errors import CheckpointError, CheckpointWarning, InputError, InterruptedWarning
from lowdim.optimize import DirectedDescent
from lowdim.optimize.directions import SpectralDirection
from lowdim.store import budget, checkpoint

ROOT = Path(__file__).parents[2]
KINDS = {
    "t-SNE": lambda **o: TSNE(max_iter=25, record=5, repulsion="fft", **o),
    "Barnes-Hut": lambda **o: TSNE(max_iter=8, repulsion="barnes-hut", init="spectral", **o),
    "momentum": lambda **o: TSNE(max_iter=6, optimizer="momentum", homotopy=[0.1, 0.5], **o),
    "elastic": lambda **o: ElasticEmbedding(max_iter=3, homotopy=3, **o),
    "SD": lambda **o: SymmetricSNE(max_iter=5, optimizer="sd", **o),
    "SD-": lambda **o: SymmetricSNE(max_iter=4, optimizer="sd-", **o),
    "CG": lambda **o: SymmetricSNE(max_iter=5, optimizer="cg", **o),
    "L-BFGS": lambda **o: lowdim.SNE(max_iter=5, optimizer="lbfgs", **o),
    "Isomap": Isomap,
    "landmark Isomap": lambda **o: Isomap(landmarks=40, **o),
    "Isomap by LLL": lambda **o: Isomap(solver=LLL(40), **o),
    "LLE": lowdim.LLE,
    "LE by LLL": lambda **o: LaplacianEigenmaps(solver=LLL(40, polish=2, certify=80), **o),
    "radius": lambda **o: LaplacianEigenmaps(radius=3.0, **o),
    "by a tree": lambda **o: LaplacianEigenmaps(search="approximate", **o),
    "by a function": lambda **o: LaplacianEigenmaps(metric="braycurtis", **o),
    "clusters": lambda **o: lowdim.SpectralClustering(3, **o),
    "MDS": lambda **o: lowdim.ClassicalMDS(metric="manhattan", **o),
    "MDS as PCA": lowdim.ClassicalMDS,
    "stress": lambda **o: lowdim.MDS(max_iter=4, n_init=2, **o),
    "stress by pivots": lambda **o: lowdim.MDS(metric_mds=False, max_iter=3, pivots=40, **o),
    "kernel PCA": lowdim.KernelPCA,
    "PCA": lowdim.PCA,
    "oriented PCA": lowdim.OrientedPCA,
    "left open": lambda **o: Isomap("auto", n_neighbors="auto:connected", **o),
}


class Cut(BaseException):
    """Stands for the end of the process."""


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """Everything is kept, in many files."""
    monkeypatch.setattr(budget, "PACE", budget.Pace(share=float("inf"), interval=0.0, worth=0.0))
    monkeypatch.setattr(running, "PIECE_BYTES", 1 << 15)


@pytest.fixture
def cutting(monkeypatch):
    """Cuts a run after so many writes; 0: never."""
    left = [0]
    write = checkpoint._Packed.write

    def counted(packed, path):
        write(packed, path)
        left[0] -= 1
        if left[0] == 0:
            raise Cut

    monkeypatch.setattr(checkpoint._Packed, "write", counted)
    return left


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(120, 5)), rng.normal(size=(80, 5)) + 3]).round(2)
    X[7] = X[8]
    return X


def fitted(make, X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(**options).fit(X)


def assert_same(a, b, X):
    skipped = {
        "map_",
        "report_",
        "history_",
        "frames_",
        "certificate_",
        "affinity_matrix_",
        "neighbor_lists_",
    }
    for name, value in vars(a).items():
        if name.endswith("_") and name not in skipped:
            np.testing.assert_array_equal(getattr(b, name), value, err_msg=name)
    if hasattr(a, "neighbor_lists_"):
        np.testing.assert_array_equal(a.neighbor_lists_.indices, b.neighbor_lists_.indices)
        np.testing.assert_array_equal(a.neighbor_lists_.distances, b.neighbor_lists_.distances)
    if hasattr(a, "history_"):
        for name in ("iterations", "values", "evaluations", "lam"):
            np.testing.assert_array_equal(getattr(b.history_, name), getattr(a.history_, name))
    for (i, x), (j, y) in zip(getattr(a, "frames_", []), getattr(b, "frames_", []), strict=True):
        assert i == j
        np.testing.assert_array_equal(x, y)
    assert a.report_.choices == b.report_.choices
    assert a.report_.warnings == b.report_.warnings
    assert repr(a.report_.figures) == repr(b.report_.figures)
    np.testing.assert_array_equal(a.transform(X[:9] + 0.01), b.transform(X[:9] + 0.01))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.every(3)
def test_a_run_cut_again_and_again_ends_in_the_same_bits(kind, X, tmp_path, cutting):
    make, cuts, path = KINDS[kind], 0, tmp_path / "kept"
    wanted = fitted(make, X)
    while True:
        cutting[0] = 1 + cuts % 3
        try:
            found = fitted(make, X, checkpoint=path)
            break
        except Cut:
            cuts += 1
    assert cuts >= 1
    assert_same(wanted, found, X)
    cutting[0] = 0
    assert_same(wanted, fitted(make, X, checkpoint=str(path), n_jobs=1), X)


def test_the_wrong_run_is_refused_and_a_finished_one_replaced(X, tmp_path, cutting):
    path = tmp_path / "kept"
    cutting[0] = 3
    with pytest.raises(Cut):
        fitted(Isomap, X, checkpoint=path)
    cutting[0] = 0
    with pytest.raises(CheckpointError, match="n_neighbors was None, is 7"):
        fitted(Isomap, X, checkpoint=path, n_neighbors=7)
    with pytest.raises(CheckpointError, match="X was array"):
        fitted(Isomap, X + 1, checkpoint=path)
    fitted(Isomap, X, checkpoint=path)
    assert fitted(Isomap, X, checkpoint=path, n_neighbors=7).n_neighbors == 7
    noise = np.random.default_rng(0).normal(size=(50, 5))
    cutting[0] = 1
    with pytest.raises(Cut):
        lowdim.OrientedPCA(checkpoint=tmp_path / "oriented").fit(X, noise=noise)
    cutting[0] = 0
    with pytest.raises(CheckpointError, match="noise was array"):
        lowdim.OrientedPCA(checkpoint=tmp_path / "oriented").fit(X, noise=noise + 1)


@pytest.mark.parametrize("end", [KeyboardInterrupt, lowdim.Stop])
def test_an_interrupt_keeps_where_the_optimisation_stands(X, tmp_path, monkeypatch, end):
    wanted = fitted(KINDS["t-SNE"], X)
    monkeypatch.setattr(budget, "PACE", budget.Pace(interval=1e9))
    iterations = []

    def stop(event):
        if "embedding" in event.data:
            iterations.append(event.data["iteration"])
            if event.data["iteration"] == 12 and len(iterations) == 12:
                raise end

    cut = fitted(KINDS["t-SNE"], X, checkpoint=tmp_path / "kept", callback=stop)
    assert cut.n_iter_ == 12
    assert_same(wanted, fitted(KINDS["t-SNE"], X, checkpoint=tmp_path / "kept", callback=stop), X)
    assert iterations == [*range(1, 13), *range(12, 26)], "the second run goes on where the first was cut"


ALIGNED = {
    "t-SNE": lambda **o: TSNE(max_iter=12, record=5, repulsion="fft", **o),
    "UMAP": lambda **o: lowdim.UMAP(max_iter=6, **o),
    "SD": lambda **o: SymmetricSNE(max_iter=4, optimizer="sd", **o),
}


@pytest.mark.parametrize("kind", ALIGNED)
def test_an_aligned_series_cut_again_and_again_ends_in_the_same_bits(kind, X, tmp_path, cutting):
    make, cuts, path, series = ALIGNED[kind], 0, tmp_path / "kept", [X, X[:150] + 0.1]
    relations = [np.column_stack([np.arange(150)] * 2)]

    def aligned(**options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return lowdim.align(make(**options), series, relations)

    wanted = aligned()
    while True:
        cutting[0] = 1 + cuts % 3
        try:
            found = aligned(checkpoint=path)
            break
        except Cut:
            cuts += 1
    assert cuts >= 4
    cutting[0] = 0
    for again in (found, aligned(checkpoint=path, n_jobs=1)):
        for one, other in zip(wanted, again, strict=True):
            assert_same(one, other, X)


def test_an_interrupted_series_goes_on_and_another_is_refused(X, tmp_path, monkeypatch):
    series, iterations = [X, X[:150] + 0.1], []
    relations = [dict.fromkeys(range(150), 0) | {row: row for row in range(150)}]
    wanted = lowdim.align(TSNE(max_iter=20), series, relations)
    monkeypatch.setattr(budget, "PACE", budget.Pace(interval=1e9))

    def stop(event):
        if "embedding" in event.data:
            iterations.append(event.data["iteration"])
            if len(iterations) == 14:
                raise KeyboardInterrupt

    estimator = TSNE(max_iter=20, checkpoint=tmp_path / "kept", callback=stop)
    with pytest.warns(InterruptedWarning):
        lowdim.align(estimator, series, relations)
    with pytest.raises(CheckpointError, match=r"strength was 0\.05, is 0\.1"):
        lowdim.align(estimator, series, relations, strength=0.1)
    with pytest.raises(CheckpointError, match="series was"):
        lowdim.align(estimator, [X, X[:150]], relations)
    reached = max(iterations)
    found = lowdim.align(estimator, series, relations)
    assert reached in (7, 14)
    assert min(iterations[14:]) == reached
    for one, other in zip(wanted, found, strict=True):
        assert_same(one, other, X)


def test_seconds_of_the_run_before_count(X, tmp_path, monkeypatch):
    """By a clock on which an iteration takes a second, and nothing else any time."""
    now, seen = [0.0], []
    monkeypatch.setattr("lowdim.optimize.loop.time.perf_counter", lambda: now[0])

    def tick(event):
        if "embedding" in event.data:
            seen.append(event.data["iteration"])
            if len(seen) == 20:
                raise KeyboardInterrupt
            now[0] += 1.0

    def make(**options):
        settings = {"max_iter": 10**6, "max_seconds": 30.0, "tolerance": 0.0, "homotopy": None}
        return TSNE(optimizer="momentum", callback=tick, **settings, **options)

    fitted(make, X, checkpoint=tmp_path / "kept")
    found = fitted(make, X, checkpoint=tmp_path / "kept")
    assert found.report_.figures["stopped"] == "max_seconds"
    assert found.n_iter_ == 30
    assert seen == [*range(1, 21), *range(20, 31)]


def test_a_spectral_direction_keeps_its_form_whatever_memory_is_free(X, tmp_path, cutting, monkeypatch):
    def make(**options):
        direction = DirectedDescent(SpectralDirection())
        return SymmetricSNE(max_iter=6, optimizer=direction, **options)

    with monkeypatch.context() as patch:
        patch.setattr("lowdim.optimize.operators.exact.available_memory", lambda: 1000)
        wanted = fitted(make, X)
        cutting[0] = 8
        with pytest.raises(Cut):
            fitted(make, X, checkpoint=tmp_path / "kept")
    cutting[0] = 0
    assert list((tmp_path / "kept").glob("*loop.state"))
    found = fitted(make, X, checkpoint=tmp_path / "kept")
    np.testing.assert_array_equal(found.embedding_, wanted.embedding_)
    assert not np.array_equal(fitted(make, X).embedding_, wanted.embedding_)


def test_a_choice_by_free_memory_stays(X, tmp_path, cutting, monkeypatch):
    cutting[0] = 2
    with pytest.raises(Cut):
        fitted(Isomap, X, checkpoint=tmp_path / "kept")
    cutting[0] = 0
    monkeypatch.setattr("lowdim.estimators.spectral.spectral_driver.available_memory", lambda: 1000)
    with pytest.raises(lowdim.errors.MemoryLimitError):
        fitted(lambda **o: Isomap(memory_limit=1000, solver="exact", **o), X)
    found = fitted(Isomap, X, checkpoint=tmp_path / "kept")
    assert not hasattr(found, "certificate_")


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (LaplacianEigenmaps(), {"n_components": [1, 3], "n_neighbors": [5, 9]}),
        (LaplacianEigenmaps(search="approximate"), {"n_neighbors": [5, 9]}),
        (TSNE(max_iter=5), {"perplexity": [5.0, 12.0]}),
    ],
)
def test_a_sweep_goes_on(estimator, grid, X, tmp_path, cutting):
    labels = np.arange(len(X)) < 120

    def tried(path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return lowdim.sweep(
                estimator, grid, X, labels, test=0.3, out_of_sample=0, seeds=2, checkpoint=path
            )

    wanted, cuts = tried(None), 0
    while True:
        cutting[0] = 2 + cuts % 3
        try:
            found = tried(tmp_path / "kept")
            break
        except Cut:
            cuts += 1
    assert cuts > 3
    for a, b in zip(wanted.runs, found.runs, strict=True):
        assert (a.point, a.seed, a.figures, a.warnings, a.status) == (
            b.point,
            b.seed,
            b.figures,
            b.warnings,
            b.status,
        )
    assert (found.best, dict(found.scores)) == (wanted.best, dict(wanted.scores))


def full(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("kind", ["t-SNE", "Isomap", "sweep"])
def test_who_wants_an_error_of_a_full_disk_has_one(kind, X, tmp_path, monkeypatch):
    """The folder is whole, nothing of the failure is kept in it, and the next run goes on from there."""
    left = [0]
    write = checkpoint._Packed.write

    def filling(packed, path):
        left[0] -= 1
        with monkeypatch.context() as patch:
            if left[0] == 0:
                patch.setattr(checkpoint, "write_container", full)
            write(packed, path)

    def run(path):
        if kind != "sweep":
            return KINDS[kind](checkpoint=path).fit(X).embedding_
        found = lowdim.sweep(TSNE(max_iter=5), {"perplexity": [5.0, 9.0]}, X, checkpoint=path)
        return [(run.figures, run.status) for run in found.runs]

    wanted = run(None)
    monkeypatch.setattr(checkpoint._Packed, "write", filling)
    for count in (1, 3, 6):
        path = tmp_path / f"kept {count}"
        left[0] = count
        with warnings.catch_warnings():
            warnings.simplefilter("error", CheckpointWarning)
            with pytest.raises(CheckpointWarning, match=r"the disk is full\. Free some space"):
                run(path)
            assert not checkpoint._read(path / "manifest.state")["finished"]
            np.testing.assert_equal(run(path), wanted)
        assert checkpoint._read(path / "manifest.state")["finished"]


def test_an_interrupted_sweep_goes_on(X, tmp_path):
    seen = []

    def stop(event):
        if "embedding" in event.data:
            seen.append(event.data["iteration"])
            if len(seen) == 7:
                raise KeyboardInterrupt

    def tried(**options):
        return lowdim.sweep(TSNE(max_iter=5), {"perplexity": [5.0, 9.0]}, X, **options)

    with pytest.warns((InterruptedWarning, lowdim.errors.LowdimWarning)):
        cut = tried(checkpoint=tmp_path / "kept", callback=stop)
    assert not cut.complete
    assert len(cut.runs) == 1, "a fit that was cut is no fit"
    found, wanted = tried(checkpoint=tmp_path / "kept", callback=stop), tried()
    assert found.complete
    assert [run.figures for run in found.runs] == [run.figures for run in wanted.runs]
    assert seen == [1, 2, 3, 4, 5, 1, 2, 2, 3, 4, 5]


def test_the_checkpoint_of_a_sweep_is_the_sweeps(X, tmp_path):
    with pytest.raises(InputError, match="Give it to the sweep"):
        lowdim.sweep(TSNE(checkpoint=tmp_path), {"perplexity": [5.0]}, X)
    with pytest.raises(InputError, match="checkpoint of sweep must be"):
        lowdim.sweep(TSNE(), {"perplexity": [5.0]}, X, checkpoint=3)


def test_a_model_file_names_no_folder(X, tmp_path):
    model = fitted(lowdim.PCA, X, checkpoint=tmp_path / "kept")
    assert lowdim.load(lowdim.save(model, tmp_path / "model.lowdim")).checkpoint is None


@pytest.mark.slow
def test_kills():
    command = [sys.executable, "-m", "torture", "kills", "--amount", "2"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "2 kills" in answer.stdout
