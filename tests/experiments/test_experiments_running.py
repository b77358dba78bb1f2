"""The experiments' way in: a list at once, verdicts for whatever happens, one page that needs nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from lowdim.cli import main
from lowdim.errors import InputError

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import experiments  # noqa: E402
from experiments.notebook import Claim, Notebook, spread  # noqa: E402
from experiments.running import Verdict  # noqa: E402

LONG = ["roll-gallery", "snapshot-pca", "umap-effective-loss"]
CLASSICAL = {"roll-gallery", "isomap-dimension", "lle-faces", "snapshot-pca", "opca", "graph-inputs"}


@pytest.fixture(autouse=True)
def _no_data(tmp_path, monkeypatch):
    """Nothing but what can be generated."""
    monkeypatch.setenv("LOWDIM_DATA", str(tmp_path / "nothing"))
    monkeypatch.setenv("LOWDIM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("lowdim.data.download.OPENML", "http://127.0.0.1:9")
    monkeypatch.setattr("lowdim.data.download._olivetti", _offline)


def _offline(_):
    raise ConnectionError("no network in tests")


def test_the_catalogue_has_every_experiment():
    listed = dict(experiments.catalogue())
    assert set(listed) >= CLASSICAL | {"lll-landmarks", "sd-mnist", "entropic"}
    assert not {"running", "summary", "notebook", "pictures", "data"} & set(listed)
    assert all(title.endswith((".", ":")) and len(title) < 130 for title in listed.values())


def test_the_catalogue_imports_no_experiment():
    code = "import sys, experiments as e; e.catalogue(); print(*{'matplotlib', 'scipy'} & {*sys.modules})"
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert said.stdout.split() == []


@pytest.mark.parametrize(
    "name",
    ["graph-inputs", "lle-faces", "opca", *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)],
)
def test_those_that_need_no_data_run(name, tmp_path, capsys):
    steps = []
    (verdict,) = experiments.run([name], tmp_path / "out", True, lambda *step: steps.append(step))
    assert verdict.failure == ""
    assert verdict.quick
    assert len(verdict.claims) >= 2
    assert [path.name for path in verdict.figures] == ["figure.png"]
    assert (tmp_path / "out" / name / "verdict.md").read_text().startswith(f"# {name}")
    assert steps == [(0, 1, name), (1, 1, "")]
    assert str(verdict).startswith(f"{name}: ")
    assert capsys.readouterr().out == ""


def test_missing_data_is_a_verdict_and_the_others_go_on(tmp_path, capsys):
    first, second = experiments.run(["isomap-dimension", "opca"], tmp_path, True, echo=True)
    assert "isomap_faces_32x32.npz" in first.failure
    assert first.words.startswith("not run")
    assert second.failure == ""
    assert "Verdict: " in capsys.readouterr().out
    page = experiments.write_summary([first, second], tmp_path / "page.html").read_text()
    assert "isomap_faces_32x32.npz" in page
    assert page.count("data:image/png;base64,") == 1
    assert not re.search(r'(src|href)="(?!data:|#)', page)


def test_a_missing_peer_is_named_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    (verdict,) = experiments.run(["umap-equal"], tmp_path, True)
    assert verdict.failure.startswith("not run: umap-learn, whose pictures")
    assert verdict.failure.endswith("pip install umap-learn")


@pytest.mark.slow
def test_both_losses_of_umap_are_those_of_dense_sums():
    """Damrich & Hamprecht 2021: the published cross-entropy over all pairs, and the effective loss beside it."""
    from experiments.umap_effective_loss import Losses

    rng = np.random.default_rng(0)
    mu = np.triu(rng.random((12, 12)) * (rng.random((12, 12)) < 0.5), 1)
    mu += mu.T
    losses = Losses.of(csr_array(mu))
    X = 3 * rng.normal(size=(12, 2))
    nu = 1 / (1 + losses.a * cdist(X, X, "sqeuclidean") ** losses.b) + np.diag(np.full(12, -0.5))
    off = ~np.eye(12, dtype=bool)
    entropy = -(mu * np.log(nu) + (1 - mu) * np.log(1 - nu))[off].sum() / 12
    weight = 5 * (mu.sum(axis=0) + mu.sum(axis=1)[:, None]) / (4 * 12)
    effective = -(mu * np.log(nu) + weight * np.log(1 - nu))[off].sum() / 12
    found = losses.at(X)
    # But for the few pairs that are nearer than where the push is cut.
    assert found["published cross-entropy"] == pytest.approx(entropy, rel=0.02)
    assert found["effective loss"] == pytest.approx(effective, rel=0.02)
    way = rng.normal(size=X.shape)
    for loss in (losses.entropy, losses.effective):
        change = loss.evaluate(X + 1e-5 * way).value - loss.evaluate(X - 1e-5 * way).value
        slope = float((loss.evaluate(X).gradient * way).sum())
        assert change / 2e-5 == pytest.approx(slope, rel=1e-5)
    draws = np.mean([losses.draw(X, *losses.chosen(rng), rng) for _ in range(4000)], axis=0)
    step = -losses.faithful.evaluate(X).gradient / mu.max()
    assert np.linalg.norm(draws - step) < 0.05 * np.linalg.norm(step)


def test_an_interruption_keeps_what_is_done(tmp_path, monkeypatch):
    import experiments.graph_inputs

    def interrupted(notebook):
        notebook.claim("half", "whole", "half", True)
        raise KeyboardInterrupt

    monkeypatch.setattr(experiments.graph_inputs, "run", interrupted)
    steps = []
    verdicts = experiments.run(
        ["opca", "graph-inputs", "lle-faces"], tmp_path, True, lambda *step: steps.append(step)
    )
    assert steps == [(0, 3, "opca"), (1, 3, "graph-inputs"), (2, 3, "")]
    assert [verdict.id for verdict in verdicts] == ["opca", "graph-inputs"]
    assert verdicts[1].failure == "interrupted"
    assert len(verdicts[1].claims) == 1


def test_unknown_ones_are_named(tmp_path):
    with pytest.raises(InputError, match=r"lll-moon.*opca"):
        experiments.run(["lll-moon"], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_all_means_all(tmp_path, monkeypatch):
    from experiments import running

    ran = []

    def pretend(name, title, folder, quick, echo):
        ran.append(name)
        return Verdict(name, title, (), (), folder, 0.0, quick)

    monkeypatch.setattr(running, "_run_one", pretend)
    assert len(experiments.run(["all"], tmp_path)) == len(experiments.catalogue())
    assert ran == [name for name, _ in experiments.catalogue()]


def test_the_page_escapes_what_it_shows(tmp_path):
    claims = (Claim("a < b", "x & y", "<script>", False), Claim("c", "d", "e", True))
    verdict = Verdict("some-id", "Title <b>", claims, ("more & more",), tmp_path, 61.0, False)
    page = experiments.write_summary([verdict], tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>" not in page
    assert "Title &lt;b&gt;" in page
    assert "1 of 2 outcomes held" in page
    assert "more &amp; more" in page
    assert "Small sizes" not in page


def test_a_notebook_can_be_told_to_be_silent(tmp_path, capsys):
    for echo in (False, True):
        notebook = Notebook("one", tmp_path / "one", echo=echo)
        notebook.table([{"a": 1.23456, "b": "x"}, {"a": 2.0}])
        assert notebook.conclude()
        assert bool(capsys.readouterr().out) is echo
    assert (tmp_path / "one" / "table.csv").read_text().splitlines()[0] == "a,b"
    assert spread([1.0, 3.0]) == "2 ± 1"


def test_the_command_names_what_is_unknown(capsys):
    assert main(["reproduce", "moon"]) != 0
    assert "no experiment 'moon'" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_lists_and_runs(tmp_path):
    def command(*arguments):
        return subprocess.run(
            [sys.executable, "-W", "error", "-m", "lowdim", "reproduce", *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            text=True,
            check=False,
        )

    (tmp_path / "experiments.py").write_text("raise RuntimeError('another package of that name')")
    assert "roll-gallery" in command().stdout
    ran = command("opca", "--quick", "--output", str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    assert "outcomes held" in ran.stdout
    assert (tmp_path / "summary.html").is_file()


def test_the_wheel_ships_them():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '"experiments" = "lowdim/experiments"' in text
    for path in (ROOT / "experiments").glob("*.py"):
        code = path.read_text(encoding="utf-8")
        # Under both names of the package: nothing inside says "experiments" by name.
        assert not re.search(r"^\s*(from|import) experiments\b", code, re.MULTILINE), path.name
