"""The table of options is what the classes say of themselves."""

from __future__ import annotations

import dataclasses
import inspect
import json
import subprocess
import sys

import pytest

import lowdim
from lowdim.cli.options.describe import TABLE, as_text, descriptions, help_text
from lowdim.cli.options.table import (
    REQUIRED,
    find_method,
    formats,
    function_parameters,
    methods,
    owner_of,
    parts_of,
)


def test_the_table_is_up_to_date():
    assert TABLE.read_text(encoding="utf-8") == as_text(), "run 'make options' and commit what it writes"


@pytest.mark.parametrize("name", list(methods()))
def test_parameters_are_those_of_the_class(name):
    method = methods()[name]
    signature = inspect.signature(getattr(lowdim, method.class_name))
    found = {parameter.name: parameter.default for parameter in method.parameters}
    assert list(found) == list(signature.parameters)
    assert found == {name: parameter.default for name, parameter in signature.parameters.items()}


@pytest.mark.parametrize("name", list(methods()))
def test_every_parameter_is_described(name):
    method = methods()[name]
    assert [parameter.name for parameter in method.parameters if not parameter.help] == []
    assert not any(parameter.help.startswith("As in") for parameter in method.parameters)
    assert not any(word in p.help for p in method.parameters for word in ("`", "None", "True", "False"))
    assert method.title
    assert method.summary


def test_estimators_that_need_more_than_data_are_no_methods():
    assert "spectral-problem" not in methods()
    assert {m.class_name for m in methods().values()} == {
        name for name in lowdim.__all__ if hasattr(getattr(lowdim, name), "fit_transform")
    } - {"SpectralProblem"}


@pytest.mark.parametrize("typed", ["tsne", "t-SNE", "TSNE", "t_sne"])
def test_names_are_found_however_they_are_written(typed):
    assert find_method(typed).class_name == "TSNE"
    assert find_method("nothing") is None


def test_parts_are_those_that_the_library_knows():
    from lowdim.estimators.embedding_driver.repulsion_and_optimizer import REPULSIONS
    from lowdim.optimize.named import OPTIMIZERS
    from lowdim.solvers.named import LANDMARK_SOLVERS

    for parameter, known in (("solver", LANDMARK_SOLVERS), ("repulsion", REPULSIONS)):
        assert {name: part.class_name for name, part in parts_of(parameter).items()} == {
            name: kind.__name__ for name, kind in known.items()
        }
    assert set(parts_of("affinity")) == {"gaussian", "entropic", "fuzzy", "binary", "self-tuning"}
    assert list(parts_of("optimizer")) == list(OPTIMIZERS)
    assert parts_of("metric") == {}
    assert (owner_of("LLL"), owner_of("LimitedMemory"), owner_of("Isomap")) == ("solver", "optimizer", "")


@pytest.mark.parametrize("parameter", ["solver", "affinity", "repulsion"])
def test_fields_of_parts_are_those_of_their_classes(parameter):
    for part in parts_of(parameter).values():
        kind = getattr(lowdim, part.class_name)
        defaults = {field.name: field.default for field in dataclasses.fields(kind)}
        assert {field.name: field.default for field in part.fields} == defaults
        assert all(field.help for field in part.fields)


def test_optimisers_have_the_fields_of_their_directions():
    from lowdim.optimize.named import named_optimizer

    for name, part in parts_of("optimizer").items():
        usual = named_optimizer(name)
        holder = getattr(usual, "direction", usual)
        assert type(holder).__name__ == part.class_name
        for field in part.fields:
            assert getattr(holder, field.name) == field.default


def test_solvers_are_those_that_the_rules_of_a_method_allow():
    assert "variational-nystrom" in methods()["lle"].parts("solver")
    of_dense = set(methods()["isomap"].parts("solver"))
    assert {"lll", "landmark-z", "nystrom"} <= of_dense
    assert "variational-nystrom" not in of_dense
    assert methods()["pca"].parts("solver") == {}
    solver = next(p for p in methods()["pca"].parameters if p.name == "solver")
    assert methods()["pca"].choices(solver) == ("auto", "covariance", "snapshot", "randomized", "streaming")


def test_further_data_of_fit():
    assert [parameter.name for parameter in methods()["oriented-pca"].data] == ["noise"]
    assert methods()["pca"].data == ()


@pytest.mark.parametrize("name", ["score", "sweep", "plot"])
def test_functions(name):
    signature = inspect.signature(getattr(lowdim, name))
    found = {parameter.name: parameter for parameter in function_parameters(name)}
    assert list(found) == list(signature.parameters)
    for parameter in signature.parameters.values():
        default = found[parameter.name].default
        if parameter.default is parameter.empty:
            assert default is REQUIRED
        else:
            assert default in (parameter.default, repr(parameter.default))


def test_formats():
    from lowdim.data import files

    assert formats("data") == files.SUFFIXES
    assert formats("embedding") == files.WRITABLE


def test_descriptions_of_a_docstring():
    text = """A sentence
    over two lines.

    Parameters
    ----------
    one, two : int
        First line
        and second.
    three
        Alone.

    Returns
    -------
    four
        No parameter.
    """
    assert descriptions(text) == {
        "one": "First line and second.",
        "two": "First line and second.",
        "three": "Alone.",
    }


@pytest.mark.parametrize(
    ("text", "default", "expected"),
    [
        ('``"auto"`` or `Gaussian`, or ``"exact"``.', "auto", "auto or Gaussian, or exact (default: auto)"),
        (
            "None: what n_neighbors says, or ``solver=exact``.",
            None,
            "default: what --n-neighbors says, or --solver exact.",
        ),
        ("Whether to centre.", True, "Whether to centre (default: true)"),
        ("Threads; -1 (default) uses all.", -1, "Threads; -1 (default) uses all."),
    ],
)
def test_help_speaks_of_options(text, default, expected):
    assert help_text(text, {"n_neighbors": "--n-neighbors", "solver": "--solver"}, default) == expected


def test_the_table_is_json_and_nothing_heavy_is_imported_to_read_it():
    json.loads(TABLE.read_text(encoding="utf-8"))
    code = "import sys; from lowdim.cli.options.table import methods; methods(); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {"numpy", "scipy", "sklearn", "numba", "rich"}.isdisjoint(loaded)
