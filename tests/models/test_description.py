"""What a model file says of itself without being loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from model_zoo import POINTS, ZOO, fitted, forged, taken_apart

import lowdim
from lowdim import models
from lowdim.errors import FileError, FormatError
from lowdim.models.description import PLACED_BY
from lowdim.store.registry import REBUILT, RECORDS


@pytest.mark.parametrize("name", sorted(ZOO))
@pytest.mark.every(4)
def test_every_model_is_described(name: str, tmp_path: Path) -> None:
    model, _ = fitted(name)
    found = models.describe(lowdim.save(model, tmp_path / "model.lowdim"))
    assert found.method == type(model).__name__
    assert (found.n_samples, found.n_components) == model.embedding_.shape
    assert found.n_features == getattr(model, "n_features_in_", None)
    assert list(found.parameters) == list(model.get_params(deep=False))
    assert found.map == type(model.map_).__name__
    assert found.bytes == (tmp_path / "model.lowdim").stat().st_size
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["version"] == lowdim.__version__


def test_the_page_for_people(tmp_path: Path) -> None:
    model = lowdim.LaplacianEigenmaps(
        3,
        solver=lowdim.LLL(25, landmarks=np.arange(25)),
        n_neighbors=np.int64(12),
        random_state=np.random.default_rng(0),
    ).fit(POINTS)
    path = lowdim.save(model, tmp_path / "model.lowdim")
    text = str(models.describe(path))
    assert text.startswith("LaplacianEigenmaps: 90 points of 3 columns in 3 dimensions\n")
    assert f"written by: lowdim {lowdim.__version__}, format 2" in text
    assert "new points: by weights on the nearest fitted points or landmarks\n" in text
    assert "n_neighbors = 12\n" in text
    assert "'class': 'LLL', 'n_landmarks': 25" in text
    assert "'landmarks': 'array int64 (25,)'" in text
    assert "random_state = 'Generator(...)'" in text


def test_every_map_is_told_in_words() -> None:
    kinds = {name for module, names in RECORDS.items() for name in names if module.startswith("maps.")}
    kinds |= {name for module, names in REBUILT.items() for name in names if module.startswith("maps.")}
    parts = {"NeighborAffinities", "GivenAffinities", "SquaredDistances", "GivenDistances", "KernelValues"}
    parts |= {"GivenValues", "SquaredGeodesics", "GeodesicsToLandmarks"}
    assert kinds - parts | {"WithoutPoints"} == set(PLACED_BY)


def test_odd_parameters_are_shown(tmp_path: Path) -> None:
    fields = {"init": np.asfortranarray(POINTS[:, :2])}
    model = lowdim.TSNE(max_iter=5, perplexity=5, **fields).fit(POINTS)
    model.homotopy = [{"a": float("nan")}, (0.5, float("inf"))]
    found = models.describe(lowdim.save(model, tmp_path / "model.lowdim")).to_json()["parameters"]
    assert found["homotopy"] == [{"a": "nan"}, [0.5, "inf"]]
    assert found["init"] == "array float64 (90, 2)"


def test_problems_without_points_and_names_of_columns(tmp_path: Path) -> None:
    text = str(models.describe(lowdim.save(fitted("Problem-sparse")[0], tmp_path / "a.lowdim")))
    assert "A = 'csr_array (90, 90)'" in text
    text = str(models.describe(lowdim.save(fitted("Problem")[0], tmp_path / "b.lowdim")))
    assert text.startswith("SpectralProblem: 90 points in 2 dimensions")
    pandas = pytest.importorskip("pandas")
    model = lowdim.PCA(2).fit(pandas.DataFrame(POINTS, columns=list("abc")))
    text = str(models.describe(lowdim.save(model, tmp_path / "c.lowdim")))
    assert "of 3 columns with names in" in text


def test_only_the_header_is_read(tmp_path: Path) -> None:
    path = lowdim.save(lowdim.PCA(2).fit(POINTS), tmp_path / "model.lowdim")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert models.describe(path).n_samples == 90
    with pytest.raises(FormatError, match="damaged"):
        lowdim.load(path)
    path.write_bytes(whole[:300] + b"x" + whole[301:])
    with pytest.raises(FormatError, match="damaged"):
        models.describe(path)
    with pytest.raises(FileError, match="does not exist"):
        models.describe(tmp_path / "nothing")


@pytest.mark.slow
def test_objects_that_double_over_and_over_end(tmp_path: Path) -> None:
    path = lowdim.save(lowdim.PCA(2).fit(POINTS), tmp_path / "model.lowdim")
    document, arrays = taken_apart(path)
    place = document["model"]
    document["objects"] += [
        ["Stage", {"a": {"object": k}, "b": {"object": k}}] for k in range(place, place + 59)
    ]
    document["objects"][place][1]["parameters"]["dict"].append(["solver", {"object": place + 59}])
    document["objects"][place + 1][1] = {}
    with pytest.raises(FormatError, match="not that of a model"):
        models.describe(forged(path, document, arrays))


def test_describing_is_light(tmp_path: Path) -> None:
    path = lowdim.save(fitted("TSNE-exact")[0], tmp_path / "model.lowdim")
    code = f"import sys; from lowdim.models import describe; describe({str(path)!r}); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {"sklearn", "numba"}.isdisjoint(loaded)
