"""Controls from the estimators' own rules, and the lines that make a setting again."""

from __future__ import annotations

import pytest

import lowdim
from lowdim.cli.options.table import methods
from lowdim.cli.options.wording import flag_of
from lowdim.errors import InputError
from lowdim.explore.catalogue import METHODS, class_of
from lowdim.explore.controls import controls_of, limited
from lowdim.explore.settings import Setting
from lowdim.explore.speed import marks


def test_every_method_of_the_program_can_be_explored_but_one():
    assert set(methods()) - set(METHODS) == {"oriented-pca"}
    assert {name: methods()[name].class_name for name in METHODS} == METHODS


@pytest.mark.parametrize("method", METHODS)
def test_every_value_that_a_control_can_take_is_allowed_by_the_rules(method):
    rules = class_of(method)._rules
    controls = limited(controls_of(method), 500, 2.0)
    assert any(control.first for control in controls)
    for control in controls:
        rule = rules.get(control.name)
        if rule is None:
            assert control.name == "n_landmarks"
            continue
        ends = [int(control.low), int(control.high)] if control.whole else [control.low, control.high]
        values = {"number": ends, "choice": control.words, "switch": (True, False)}[control.kind]
        if control.automatic:
            values = [*values, control.auto]
        wrong = [value for value in values if not rule.allows(value)]
        # A bound may be open: there a slider stops a little before it.
        assert [value for value in wrong if value not in (0, 0.0)] == []
        assert control.logarithmic <= (control.low > 0)


@pytest.mark.parametrize("method", METHODS)
def test_a_setting_is_its_estimator_again(method):
    values = {}
    for control in controls_of(method):
        if control.kind == "number" and control.name not in ("n_landmarks", "n_components"):
            values[control.name] = int(control.low) + 2 if control.whole else (control.low + control.high) / 2
        elif control.kind == "switch":
            values[control.name] = not control.default
    setting = Setting.checked(method, values)
    model = setting.estimator()
    assert eval(setting.call(), {"lowdim": lowdim}).get_params() == model.get_params()
    assert Setting.of(model) == setting
    assert marks(Setting(method), (300, 10)).keys() == {control.name for control in controls_of(method)}


def test_landmarks_go_into_the_solver():
    setting = Setting.checked("laplacian-eigenmaps", {"solver": "lll", "n_landmarks": 77, "n_neighbors": 9})
    assert setting.call() == "lowdim.LaplacianEigenmaps(n_neighbors=9, solver=lowdim.LLL(n_landmarks=77))"
    assert setting.estimator().solver.n_landmarks == 77
    assert (
        setting.options(flag_of) == "--method laplacian-eigenmaps --n-neighbors 9 --solver lll --landmarks 77"
    )
    without = Setting.checked("laplacian-eigenmaps", {"solver": "exact", "n_landmarks": 77})
    assert dict(without.parameters) == {"solver": "exact"}
    assert Setting.usual("isomap", 100).parameters == {}
    assert Setting.usual("isomap", 70_000).parameters["solver"] == "lll"


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("os.system", {}),
        (3, {}),
        ("tsne", []),
        ("tsne", {"callback": "print"}),
        ("tsne", {"checkpoint": "/tmp/x"}),
        ("tsne", {"perplexity": "30; import os"}),
        ("tsne", {"perplexity": 1e300}),
        ("tsne", {"n_components": 2.5}),
        ("tsne", {"metric": "precomputed"}),
        ("tsne", {"lam": True}),
        ("laplacian-eigenmaps", {"solver": "__import__"}),
        ("pca", {"whiten": 1}),
    ],
)
def test_what_is_no_setting_is_refused(method, parameters):
    with pytest.raises(InputError):
        Setting.checked(method, parameters)
