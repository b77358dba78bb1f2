"""A message is written once and said in the language of its reader."""

from __future__ import annotations

import pickle
import re
import warnings

import numpy as np
import pytest

import lowdim
from lowdim import errors
from lowdim.cli.options.wording import shell
from lowdim.core.events import Events
from lowdim.core.messages import hyphenated, in_python, likely, named, parts_of, said, setting, value
from lowdim.core.rules import Either, Function, Instance, Jobs, Nothing, OneOf, Real, Truth, Whole
from lowdim.errors import DataWarning, FileError, FormatError, InputError, InputTypeError, MemoryLimitError

LANGUAGES = [
    (named("n_neighbors"), "n_neighbors", "--n-neighbors"),
    (named("n_neighbors", "LLL"), "n_neighbors of LLL", "--solver-n-neighbors"),
    (named("n_neighbors", "Isomap"), "n_neighbors of Isomap", "--n-neighbors"),
    (named("random_state"), "random_state", "--seed"),
    (named("X", "score"), "X of score", "DATA"),
    (named("polish"), "polish", "--solver-polish"),
    (setting("n_neighbors", 30), "n_neighbors=30", "--n-neighbors 30"),
    (setting("n_neighbors", np.int64(30)), "n_neighbors=30", "--n-neighbors 30"),
    (setting("solver", "exact"), "solver='exact'", "--solver exact"),
    (setting("drop", ("id", "item")), "drop=('id', 'item')", "--drop id,item"),
    (setting("drop", "cell type"), "drop='cell type'", "--drop 'cell type'"),
    (setting("header", False), "header=False", "--no-header"),
    (setting("force", True), "force=True", "--force"),
    (setting("radius", None), "radius=None", "--radius none"),
    (setting("affinity", lowdim.Entropic()), f"affinity={lowdim.Entropic()!r}", "--affinity entropic"),
    (value(None), "None", "none"),
    (value(True), "True", "true"),
    (value("exakt"), "'exakt'", "'exakt'"),
    (value([1.5, 2]), "[1.5, 2]", "1.5,2"),
    (in_python("a NumPy Generator"), "a NumPy Generator", ""),
    (in_python("X.toarray()", "a dense file"), "X.toarray()", "a dense file"),
]


@pytest.mark.parametrize(("message", "in_library", "in_shell"), LANGUAGES)
def test_mentions_in_both_languages(message, in_library, in_shell):
    sentence = f"Before {message}, after."
    assert said(sentence) == f"Before {in_library}, after."
    assert said(sentence, shell) == f"Before {in_shell}, after."


@pytest.mark.parametrize(
    "kind", [InputError, InputTypeError, FileError, FormatError, MemoryLimitError, DataWarning]
)
def test_errors_and_warnings_hold_plain_text_and_their_parts(kind):
    error = kind(f"{named('n_neighbors')} must be less; got {setting('n_neighbors', 9)}.")
    assert str(error) == "n_neighbors must be less; got n_neighbors=9."
    assert error.args == (str(error),)
    assert error.said(shell) == "--n-neighbors must be less; got --n-neighbors 9."
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.said(shell)) == (str(error), error.said(shell))


@pytest.mark.parametrize("kind", [kind for kind in vars(errors).values() if isinstance(kind, type)])
def test_they_can_be_made_without_their_message(kind):
    """As libraries do that bring errors back from other processes: Dask is one."""
    if issubclass(kind, BaseException):
        again = kind.__new__(kind)
        again.args = ("as it was",)
        assert str(again) == "as it was"


def test_plain_messages_and_none_are_left_alone():
    assert str(InputError("x {y} is 'z'")) == "x {y} is 'z'"
    assert InputError("x").said(shell) == "x"
    assert str(InputError()) == ""
    assert InputError().said(shell) == ""


def test_marks_in_what_is_mentioned_do_no_harm():
    odd = "a\x1eb\x1fc"
    assert said(f"got {value(odd)}.") == "got 'a\\x1eb\\x1fc'."
    assert said(f"got {value(odd)}.", shell) == "got 'a b c'."
    assert said(f"{odd}: {named('label')}", shell) == "ab\x1fc: --label"
    assert parts_of("") == ()


def test_a_warning_reaches_listeners_as_plain_text_and_readers_in_parts():
    heard = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Events(heard.append).warned(f"Raise {named('n_neighbors')}.", DataWarning)
    assert heard[0].message == "Raise n_neighbors."
    assert caught[0].message.said(shell) == "Raise --n-neighbors."


@pytest.mark.parametrize(
    ("rule", "in_library", "in_shell"),
    [
        (Either(Whole(1), Nothing()), "a whole number >= 1, or None", "a whole number >= 1, or none"),
        (Truth(), "True or False", "true or false"),
        (OneOf("a", "b"), "one of 'a', 'b'", "one of 'a', 'b'"),
        (Either(OneOf("a"), Function()), "'a', or a function", "'a'"),
        (Either(Function(), Real()), "a function, or a finite number", "a finite number"),
        (Either(Instance(str), Nothing()), "an object of class str, or None", "a word, or none"),
        (
            Either(Whole(0), Instance(np.ndarray)),
            "a whole number >= 0, or an object of class ndarray",
            "a whole number >= 0",
        ),
        (Either(Function(), Instance(dict)), "a function, or an object of class dict", "a function"),
        (Jobs(), Jobs.words, Jobs.words),
    ],
)
def test_rules_speak_both_languages(rule, in_library, in_shell):
    assert said(rule.words) == in_library
    assert said(rule.words, shell) == in_shell


def test_names_as_they_are_typed():
    typed = ["laplacian-eigenmaps", "kernel-pca", "lll", "barnes-hut", "tsne"]
    assert [hyphenated(n) for n in ("LaplacianEigenmaps", "KernelPCA", "LLL", "BarnesHut", "TSNE")] == typed


def test_marks_go_only_into_what_can_say_them():
    """An exception of another library would print the marks themselves."""
    import ast
    from pathlib import Path

    import lowdim
    from lowdim.core import messages

    marking = {"named", "setting", "in_python", "shape", "DATA"}
    others = []
    for path in Path(lowdim.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if all(hasattr(lowdim.errors, kind) for kind in re.findall(r"raise (\w+Error)\b", text)):
            continue
        for node in ast.walk(ast.parse(text)):
            if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)):
                continue
            kind = ast.unparse(node.exc.func)
            names = {
                part.id for value in node.exc.args for part in _formatted(value) if isinstance(part, ast.Name)
            }
            if kind.endswith("Error") and not hasattr(lowdim.errors, kind) and names & marking:
                others.append(f"{path.name}:{node.lineno}: {kind}")
    assert marking <= set(dir(messages))
    assert not others


def _formatted(message):
    """All that is put into the f-strings of a message."""
    import ast

    strings = [part for part in ast.walk(message) if isinstance(part, ast.FormattedValue)]
    return [part for string in strings for part in ast.walk(string.value)]


@pytest.mark.parametrize(
    ("word", "question"),
    [
        ("cd3", " Did you mean 'CD3D' or 'CD3E'?"),
        ("LYZZ", " Did you mean 'LYZ'?"),
        ("xyzzy", ""),
    ],
)
def test_names_that_may_be_meant(word, question):
    assert likely(word, ["CD3E", "CD3D", "LYZ", 7]) == question
