"""What is read from the source is what the classes are."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys

import pytest

import lowdim
from lowdim.cli.introspection import REQUIRED, find_method, function_parameters, methods, parts_of
from lowdim.cli.introspection.docstring import descriptions, first_paragraph, plain, words_in
from lowdim.cli.introspection.source import find, text_of


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
    assert [parameter.name for parameter in method.parameters if not parameter.text] == []
    assert not any(parameter.text.startswith("As in") for parameter in method.parameters)
    assert method.title
    assert method.summary


def test_estimators_that_need_more_than_data_are_no_methods():
    assert "spectral-problem" not in methods()
    assert {m.class_name for m in methods().values()} == {
        name for name, home in lowdim._HOMES.items() if home.startswith("estimators.")
    } - {"SpectralProblem"}


@pytest.mark.parametrize("typed", ["tsne", "t-SNE", "TSNE", "t_sne"])
def test_names_are_found_however_they_are_written(typed):
    assert find_method(typed).class_name == "TSNE"
    assert find_method("nothing") is None


def test_parts_are_those_that_the_library_knows():
    from lowdim.estimators.engines import REPULSIONS
    from lowdim.estimators.solvers import LANDMARK_SOLVERS
    from lowdim.optimize.named import OPTIMIZERS

    for parameter, known in (("solver", LANDMARK_SOLVERS), ("repulsion", REPULSIONS)):
        assert {name: part.class_name for name, part in parts_of(parameter).items()} == {
            name: kind.__name__ for name, kind in known.items()
        }
    assert set(parts_of("affinity")) == {"gaussian", "entropic", "binary", "self-tuning"}
    assert list(parts_of("optimizer")) == list(OPTIMIZERS)
    assert parts_of("metric") == {}


@pytest.mark.parametrize("parameter", ["solver", "affinity", "repulsion"])
def test_fields_of_parts_are_those_of_their_classes(parameter):
    for part in parts_of(parameter).values():
        kind = getattr(lowdim, part.class_name)
        defaults = {field.name: field.default for field in dataclasses.fields(kind)}
        assert {field.name: field.default for field in part.fields} == defaults
        assert all(field.text for field in part.fields)


def test_optimisers_have_the_fields_of_their_directions():
    from lowdim.optimize.named import named_optimizer

    for name, part in parts_of("optimizer").items():
        usual = named_optimizer(name)
        holder = getattr(usual, "direction", usual)
        assert type(holder).__name__ == part.class_name
        for field in part.fields:
            assert getattr(holder, field.name) == field.default


def test_solver_names_belong_to_spectral_methods():
    assert "lll" in methods()["isomap"].parts("solver")
    assert methods()["pca"].parts("solver") == {}
    solver = next(p for p in methods()["pca"].parameters if p.name == "solver")
    assert methods()["pca"].choices(solver) == ("auto", "covariance", "snapshot", "randomized", "streaming")


def test_further_data_of_fit():
    assert [parameter.name for parameter in methods()["oriented-pca"].data] == ["noise"]
    assert methods()["pca"].data == []


@pytest.mark.parametrize(
    ("module", "name"), [("metrics.score", "score"), ("selection.run", "sweep"), ("plotting.static", "plot")]
)
def test_functions(module, name):
    signature = inspect.signature(getattr(lowdim, name))
    found = {parameter.name: parameter for parameter in function_parameters(module, name)}
    assert list(found) == list(signature.parameters)
    for parameter in signature.parameters.values():
        expected = REQUIRED if parameter.default is parameter.empty else parameter.default
        assert found[parameter.name].default == expected


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
    assert first_paragraph(text) == "A sentence over two lines."


def test_words_and_plain_text():
    text = '``"auto"`` or `Gaussian`, or ``"exact"``'
    assert words_in(text) == ("auto", "exact")
    assert plain(text) == "auto or Gaussian, or exact"


def test_what_lowdim_does_not_define_is_not_found():
    assert find("estimators.isomap", "Callable") is None
    assert text_of(None) == ""


def test_nothing_heavy_is_imported():
    code = "import sys; from lowdim.cli.introspection import methods; methods(); print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert {"numpy", "scipy", "sklearn", "numba", "rich"}.isdisjoint(loaded)
