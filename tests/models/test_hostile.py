"""Files whose digests agree and whose contents do not: always a FormatError, never a crash."""

from __future__ import annotations

import copy
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from model_zoo import POINTS, fitted, forged, taken_apart, with_first
from sklearn.pipeline import Pipeline, make_pipeline

import lowdim
from lowdim.core.run import Run
from lowdim.errors import FormatError, LowdimError, MissingExtraError
from lowdim.models import describe

KINDS = (
    "PCA",
    "MDS-manhattan",
    "MDS-seuclidean",
    "KernelPCA",
    "Isomap",
    "Isomap-graph-landmarks",
    "LLE-standard",
    "LE-forest",
    "LE-parts-precomputed",
    "LE-sparse",
    "LE-very-sparse",
    "LE-lll-precomputed",
    "LE-wide-lll",
    "affinity-SelfTuning",
    "SpectralClustering-largest",
    "SpectralClustering-landmark-z",
    "TSNE-fft",
    "TSNE-barnes-hut",
    "EE-optimizer",
    "Pipeline",
)
Parts = dict[str, tuple[dict[str, Any], dict[str, np.ndarray], Any]]


def piped() -> tuple[Pipeline, np.ndarray]:
    """A pipeline and new rows for it."""
    return make_pipeline(lowdim.PCA(2), lowdim.LLE(n_neighbors=8)).fit(POINTS), POINTS[:5] + 0.01


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """Trees, arrays and new rows of some models."""
    made = {}
    for name in KINDS:
        model, new = piped() if name == "Pipeline" else fitted(name)
        path = tmp_path_factory.mktemp("parts") / "model.lowdim"
        made[name] = (*taken_apart(lowdim.save(model, path)), new)
    return made


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths to all parts of a tree."""
    below = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(found for key, part in below for found in places(part, (*path, key)))]


def put(tree: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The tree with another part."""
    if not path:
        return value
    inner = tree
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return tree


def outcome(path: Path, new: Any) -> str:
    """What becomes of a file: it is refused, or is a model that works or says what is wrong. All else is raised."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = lowdim.load(path)
        except FormatError:
            return "refused"
        try:
            model.transform(new)
        except (LowdimError, ValueError, TypeError, FloatingPointError):
            return "says what is wrong"
    return "works"


strange = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(
        [-1, 0, 1, 2, 7, 10**6, 2**31, 2**63, 10**30, 0.5, -1e300, "", "x", "C", "F", "euclidean"]
    ),
    st.sampled_from(
        [[], {}, {"dict": []}, {"tuple": []}, {"float": "nan"}, {"object": 0}, {"object": 3}, [[]]]
    ),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_part_of_the_tree_may_be_wrong(
    data: Any, parts: Parts, tmp_path_factory: pytest.TempPathFactory
) -> None:
    document, arrays, new = parts[data.draw(st.sampled_from(KINDS))]
    document = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 2))):
        found = places(document)
        place = found[data.draw(st.integers(0, len(found) - 1))]
        other = data.draw(st.one_of(strange, st.integers(0, len(found) - 1)))
        if isinstance(other, int) and not isinstance(other, bool) and 7 < other < len(found):
            value = document
            for key in found[other]:
                value = value[key]
            other = copy.deepcopy(value)
        document = put(document, place, other)
    path = forged(tmp_path_factory.getbasetemp() / "tree.lowdim", document, arrays)
    assert outcome(path, new) in ("refused", "says what is wrong", "works")


def changed(array: np.ndarray, others: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Something else in the place of an array."""
    how = rng.choice(["entry", "cut", "type", "turn", "all", "swap"])
    array = array.copy()
    if how == "entry" and array.size:
        limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
        values = [limits.min, limits.max, 0, 1] if limits else [np.nan, np.inf, -1e300, 0.0, 1e-300]
        array.reshape(-1)[rng.integers(array.size)] = values[rng.integers(len(values))]
    elif how == "cut" and array.ndim:
        array = array[: rng.integers(len(array) + 1)]
    elif how == "type":
        array = array.astype([np.float64, np.int64, np.int32][rng.integers(3)])
    elif how == "turn":
        array = np.ascontiguousarray(array.T)
    elif how == "all":
        array = np.full_like(array, rng.choice([0, 1, 100]))
    else:
        array = others[rng.integers(len(others))]
    return array


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.every(3)
def test_any_array_may_be_wrong(kind: str, parts: Parts, tmp_path: Path) -> None:
    document, arrays, new = parts[kind]
    rng = np.random.default_rng(0)
    found = set()
    for name in sorted(arrays):
        for _ in range(2):
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                other = changed(arrays[name], list(arrays.values()), rng)
            found.add(outcome(forged(tmp_path / "model.lowdim", document, arrays | {name: other}), new))
    assert found >= {"refused", "works"}


def field(parts: Parts, model: str, kind: str, key: str) -> tuple[dict[str, Any], dict[str, np.ndarray], Any]:
    """A copy of a model's tree and arrays, and the fields of an object in it."""
    document, arrays, _ = parts[model]
    document = copy.deepcopy(document)
    fields = next(fields for name, fields in document["objects"] if name == kind)
    assert key in fields or key in ("more", "n_jobs")  # which only older files have
    return document, arrays, fields


@pytest.mark.parametrize(
    ("model", "kind", "key", "value", "words"),
    [
        ("PCA", "LinearMap", "mean", 3, "mean of LinearMap is of type int"),
        ("PCA", "LinearMap", "more", 3, "LinearMap has no more"),
        ("PCA", "LinearMap", "mean", {"array": ["nothing", "C"]}, "'nothing' is missing"),
        ("PCA", "LinearMap", "mean", {"array": ["map_.mean", "X"]}, "'map_.mean' is missing"),
        ("PCA", "LinearMap", "mean", {"array": "map_.mean"}, "has no contents"),
        ("PCA", "LinearMap", "mean", {"array": [1, 2]}, "name and order"),
        ("PCA", "LinearMap", "mean", {"array": ["map_.mean", 2]}, "name and order"),
        ("PCA", "LinearMap", "mean", {"code": "print(1)"}, "unknown kind 'code'"),
        ("PCA", "LinearMap", "mean", {"array": ["embedding_", "C"]}, "parts of LinearMap do not fit"),
        ("PCA", "LinearMap", "mean", {"object": 99}, "does not come before"),
        ("PCA", "LinearMap", "mean", {"float": "1e5"}, "a number cannot be read"),
        ("PCA", "Stage", "seconds", {"scalar": ["float64", "x"]}, "no known type"),
        ("PCA", "Stage", "seconds", {"scalar": ["uint8", 300]}, "none of type uint8"),
        ("PCA", "Stage", "depth", {"dict": [[1]]}, "keys and values"),
        ("PCA", "Stage", "depth", {"dict": [[[1], 1]]}, "cannot be one"),
        ("Isomap", "Lookup", "n_neighbors", 10**9, "parts of Lookup do not fit"),
        ("Isomap", "Lookup", "radius", -1.0, "parts of Lookup do not fit"),
        ("TSNE-barnes-hut", "BarnesHutField", "n_jobs", 10**9, "n_jobs of BarnesHutField is 1000000000"),
        ("Isomap", "MappedMetric", "name", "eval", "no metric 'eval'"),
        ("Isomap", "Frame", "unit", 0.0, "parts of Frame do not fit"),
        ("MDS-seuclidean", "GeneralMetric", "function", "os.system", "parts of GeneralMetric do not fit"),
        ("MDS-seuclidean", "GeneralMetric", "parameters", {"dict": [["p", 2]]}, "parts of GeneralMetric"),
        ("KernelPCA", "Kernel", "name", "os.system", "parts of Kernel do not fit"),
        ("LE-forest", "ForestSearcher", "seed", -1, "no seed"),
        (
            "LE-forest",
            "EuclideanIndex",
            "sample",
            {"array": ["map_.affinities.lookup.index.searcher.order", "C"]},
            "sample of EuclideanIndex",
        ),
        ("LE-wide-lll", "Projection", "candidates", 0.5, "directions of a search"),
        ("TSNE-fft", "FourierField", "order", 5, "has no splines"),
        ("TSNE-fft", "FourierField", "step", 1e-9, "smaller than its field"),
        ("TSNE-fft", "FourierField", "end", {"array": ["embedding_", "C"]}, "has no place"),
        ("TSNE-barnes-hut", "BarnesHutField", "theta", -1.0, "no places"),
        ("TSNE-barnes-hut", "FixedEmbeddingMap", "kernel", "cauchy", "no similarity 'cauchy'"),
    ],
)
def test_wrong_fields_are_named(
    model: str, kind: str, key: str, value: Any, words: str, parts: Parts, tmp_path: Path
) -> None:
    document, arrays, fields = field(parts, model, kind, key)
    fields[key] = value
    with pytest.raises(FormatError, match=words):
        lowdim.load(forged(tmp_path / "model.lowdim", document, arrays))


@pytest.mark.parametrize("wrong", [2.0, np.nan, np.inf])
def test_directions_that_are_not_orthonormal_are_refused(wrong: float, parts: Parts, tmp_path: Path) -> None:
    """They would leave out neighbours without a word, or all of them."""
    document, arrays, fields = field(parts, "LE-wide-lll", "Projection", "basis")
    name = fields["basis"]["array"][0]
    basis = arrays[name].copy()
    basis[0, 0] = wrong
    with pytest.raises(FormatError, match="are not orthonormal"):
        lowdim.load(forged(tmp_path / "model.lowdim", document, arrays | {name: basis}))


@pytest.mark.parametrize(
    ("model", "kind", "words"),
    [
        ("Isomap", "EuclideanIndex", "other points than its own"),
        ("LE-very-sparse", "SparseSearcher", "sparse rows has dense ones"),
    ],
)
def test_an_index_searches_among_its_own_points(
    model: str, kind: str, words: str, parts: Parts, tmp_path: Path
) -> None:
    document, arrays, _ = parts[model]
    document = with_first(
        document,
        ["Rows", {"values": {"array": ["points", "C"]}}],
        ["MappedMetric", {"name": "euclidean"}],
        ["Geometry", {"rows": {"object": 0}, "metric": {"object": 1}, "n_jobs": None}],
    )
    fields = next(fields for name, fields in document["objects"] if name == kind)
    fields["geometry"] = {"object": 2}
    with pytest.raises(FormatError, match=words):
        lowdim.load(forged(tmp_path / "model.lowdim", document, arrays | {"points": np.ones((90, 3))}))


def test_missing_fields_and_unknown_classes_are_named(parts: Parts, tmp_path: Path) -> None:
    path = tmp_path / "model.lowdim"
    document, arrays, fields = field(parts, "PCA", "LinearMap", "mean")
    del fields["mean"]
    with pytest.raises(FormatError, match="LinearMap lacks mean"):
        lowdim.load(forged(path, document, arrays))
    document["objects"][0][0] = "subprocess.Popen"
    with pytest.raises(FormatError, match=r"unknown class 'subprocess\.Popen'"):
        lowdim.load(forged(path, document, arrays))
    document["objects"][0] = ["Stage"]
    with pytest.raises(FormatError, match="not a class and its fields"):
        lowdim.load(forged(path, document, arrays))


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("[" * 100_000, "tree cannot be read"),
        ('{"model":NaN}', "tree cannot be read"),
        ("[]", "its tree is no tree"),
        ({}, "no list of objects"),
        ({"objects": [], "model": 0}, "does not come before"),
        ({"objects": [["Stage", {"name": "a", "seconds": 1}]], "model": 0}, "Stage in the place of a model"),
        (
            {"objects": [["Stage", {"name": json.loads("[" * 900 + "]" * 900), "seconds": 1}]], "model": 0},
            "name of Stage|recursion",
        ),
    ],
)
def test_trees_that_are_none(document: Any, words: str, tmp_path: Path) -> None:
    path = forged(tmp_path / "model.lowdim", document, {})
    with pytest.raises(FormatError, match=words):
        lowdim.load(path)
    with pytest.raises(FormatError):
        describe(path)


@pytest.mark.parametrize("version", ["", "x", "-1", "1" * 400, "²"])
def test_versions_that_are_none(version: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="number of its format"):
        lowdim.load(forged(tmp_path / "model.lowdim", {}, {}, version=version))


def test_older_formats_that_never_were(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="format 0, which was never in use"):
        lowdim.load(forged(tmp_path / "model.lowdim", {}, {}, version="0"))


def attributes(
    parts: Parts, model: str
) -> tuple[dict[str, Any], dict[str, np.ndarray], list[Any], list[Any]]:
    """A copy of a model, and the lists of its parameters and attributes."""
    document, arrays, _ = parts[model]
    document = copy.deepcopy(document)
    fields = document["objects"][document["model"]][1]
    return document, arrays, fields["parameters"]["dict"], fields["attributes"]["dict"]


@pytest.mark.parametrize(
    ("attribute", "words"),
    [
        (["transform", 1], "transform of PCA is of type int"),
        (["__class__", 1], "__class__ of PCA"),
        (["fit_", 1], None),
        ([3, 1], "attributes of PCA is of type dict"),
        (["embedding_", 1], "embedding_ of PCA is of type int"),
        (["n_features_in_", 7], "takes 3 columns, and it was fitted on 7"),
        (["n_components_", 7], "attributes of PCA do not fit"),
        (["components_", {"array": ["embedding_", "C"]}], "attributes of PCA do not fit"),
        (["embedding_", {"array": ["map_.components", "C"]}], "another number of coordinates"),
        (["_sklearn_output_config", {"dict": [["transform", "pandas"]]}], None),
        (["_sklearn_output_config", {"dict": [["transform", "os"]]}], "_sklearn_output_config of PCA"),
        (["_sklearn_output_config", 3], "_sklearn_output_config of PCA"),
    ],
)
def test_attributes_are_those_of_a_fit(
    attribute: list[Any], words: str | None, parts: Parts, tmp_path: Path
) -> None:
    document, arrays, _, held = attributes(parts, "PCA")
    held.append(attribute)
    path = forged(tmp_path / "model.lowdim", document, arrays)
    if words is None:
        assert hasattr(lowdim.load(path), attribute[0])
    else:
        with pytest.raises(FormatError, match=words):
            lowdim.load(path)


def test_parameters_follow_the_rules_of_the_estimator(parts: Parts, tmp_path: Path) -> None:
    document, arrays, held, _ = attributes(parts, "PCA")
    held.append(["solver", "guess"])
    with pytest.raises(FormatError, match="solver of PCA must be"):
        lowdim.load(forged(tmp_path / "model.lowdim", document, arrays))
    held[-1] = ["velocity", 3]
    with pytest.raises(FormatError, match="velocity"):
        lowdim.load(forged(tmp_path / "model.lowdim", document, arrays))


def test_columns_that_are_picked_must_be_there(parts: Parts, tmp_path: Path) -> None:
    document, arrays, _, held = attributes(parts, "LE-lll-precomputed")
    held.append(["n_features_in_", 40])
    with pytest.raises(FormatError, match="takes columns that there are not"):
        lowdim.load(forged(tmp_path / "model.lowdim", document, arrays))


def test_names_of_columns_are_as_many(parts: Parts, tmp_path: Path) -> None:
    document, arrays, _, held = attributes(parts, "PCA")
    names = {"text": np.frombuffer(b"ab", np.uint8), "offsets": np.array([0, 1, 2])}
    held.append(["feature_names_in_", {"strings": ["O", [2], ["text", "C"], ["offsets", "C"]]}])
    with pytest.raises(FormatError, match="another number of columns than of their names"):
        lowdim.load(forged(tmp_path / "model.lowdim", document, arrays | names))


def test_the_sample_of_a_search_is_of_its_points(parts: Parts, tmp_path: Path) -> None:
    document, arrays, _ = parts["LE-forest"]
    name = next(name for name in arrays if name.endswith("sample"))
    with pytest.raises(FormatError, match="lies outside its points"):
        lowdim.load(forged(tmp_path / "model.lowdim", document, arrays | {name: arrays[name] + 10**6}))


def test_a_model_must_have_its_map(parts: Parts, tmp_path: Path) -> None:
    document, arrays, _, held = attributes(parts, "PCA")
    held[:] = [item for item in held if item[0] != "map_"]
    path = forged(tmp_path / "model.lowdim", document, arrays)
    with pytest.raises(FormatError, match="lacks its embedding or its map"):
        lowdim.load(path)
    with pytest.raises(FormatError, match="not that of a model"):
        describe(path)


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (["strings", ["X", [1], ["numbers", "C"], ["numbers", "C"]]], "not made of bytes"),
        (["strings", ["O", [1], ["text", "C"], ["offsets", "C"]]], "another size"),
        (["strings", ["O", [2], ["text", "C"], ["wild", "C"]]], "not within"),
        (["strings", ["O", [2], ["text", "C"], ["split", "C"]]], "a string cannot be read"),
        (["sparse", ["lil", [2, 2], *[["numbers", "C"]] * 3]], "no known form"),
        (
            ["sparse", ["csr_array", [2, 2], ["numbers", "C"], ["offsets", "C"], ["embedding_", "C"]]],
            "differ in number",
        ),
        (
            ["sparse", ["csr_array", [2, 2], ["numbers", "C"], ["numbers", "C"], ["numbers", "C"]]],
            "no whole numbers",
        ),
        (
            ["sparse", ["csr_array", [9, 2], ["numbers", "C"], ["offsets", "C"], ["offsets", "C"]]],
            "hold its entries",
        ),
        (["sparse", ["csr_array", [2, 2], ["numbers", "C"], ["offsets", "C"], ["three", "C"]]], "outside"),
        (["sparse", ["csc_array", [9, 2], ["numbers", "C"], ["offsets", "C"], ["down", "C"]]], "outside"),
        (["random", ["Generator", {"dict": [["bit_generator", "os"]]}, None]], "no known kind"),
        (["random", ["Generator", {"dict": [["bit_generator", "PCG64"]]}, None]], "cannot be read"),
        (["random", ["Generator", 1, None]], "no known kind"),
    ],
)
def test_matrices_and_generators_are_checked(
    node: list[Any], words: str, parts: Parts, tmp_path: Path
) -> None:
    document, arrays, _, held = attributes(parts, "PCA")
    more = {
        "numbers": np.arange(3.0),
        "text": np.frombuffer("aä".encode(), np.uint8),
        "offsets": np.array([0, 1, 3]),
        "wild": np.array([0, 5, 3]),
        "split": np.array([0, 2, 3]),
        "three": np.array([0, 1, 3]),
        "down": np.array([0, 5, 3]),
    }
    held.append(["other_", {node[0]: node[1]}])
    with pytest.raises(FormatError, match=words):
        lowdim.load(forged(tmp_path / "model.lowdim", document, arrays | more))


@pytest.mark.parametrize(
    ("bits", "place"), [("MT19937", 625), ("MT19937", -1), ("Philox", 5), ("Philox", -1)]
)
def test_generators_stay_in_their_block(bits: str, place: int, tmp_path: Path) -> None:
    generator = np.random.Generator(getattr(np.random, bits)(0))
    X = np.random.default_rng(0).normal(size=(9, 3))
    path = lowdim.save(lowdim.PCA(2, random_state=generator).fit(X), tmp_path / "model.lowdim")
    document, arrays = taken_apart(path)
    text = json.dumps(document)
    now = '["pos", 623]' if bits == "MT19937" else '["buffer_pos", 4]'
    assert text.count(now) == 1
    text = text.replace(now, f"{now.partition(',')[0]}, {place}]")
    with pytest.raises(FormatError, match="no place in its block"):
        lowdim.load(forged(path, text, arrays))


@pytest.mark.slow
def test_a_missing_library_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lowdim.data.rows import Rows
    from lowdim.maps.locally_linear import LocallyLinearMap
    from lowdim.neighbors import build_index
    from lowdim.neighbors.lookup import Lookup

    pytest.importorskip("pynndescent")
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = lowdim.LLE(n_neighbors=5).fit(X)
    index = build_index(Rows(X), "manhattan", search="descent", run=Run.of())
    model.map_ = LocallyLinearMap(Lookup(index, 5), model.embedding_)
    path = lowdim.save(model, tmp_path / "model.lowdim")
    monkeypatch.setitem(__import__("sys").modules, "pynndescent", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'lowdim\[descent\]'"):
        lowdim.load(path)
