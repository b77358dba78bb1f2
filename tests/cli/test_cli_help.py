"""Help pages: complete, quick to load, readable."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lowdim.cli import main
from lowdim.cli.commands.embed import KEEPS
from lowdim.cli.options.table import methods
from lowdim.cli.program import COMMANDS

HEAVY = {"numpy", "scipy", "sklearn", "numba", "matplotlib", "pandas", "rich"}


@pytest.mark.parametrize(
    "line",
    [
        ["--help"],
        ["embed", "--method", "isomap", "--solver", "lll", "--help"],
        ["sweep", "-h"],
        ["--complete", "embed", "--method", ""],
    ],
)
def test_help_loads_nothing_heavy(line):
    code = f"import sys; from lowdim.cli import main; main({line!r}); print('\\nLOADED', *sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = answer.stdout.rpartition("LOADED")[2].split()
    assert HEAVY.isdisjoint(loaded)


@pytest.mark.parametrize("line", [[], ["-h"], ["--help"], ["help"]])
def test_first_page_names_every_command(line, capsys):
    assert main(line) == 0
    page = capsys.readouterr().out
    for command, what in COMMANDS.items():
        assert f"  {command} " in page
        assert what in page


@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_command_has_a_page_with_examples(command, capsys):
    assert main([command, "--help"]) == 0
    page = capsys.readouterr().out
    assert page.startswith(f"Usage: lowdim {command}")
    assert "Examples:" in page
    assert max(map(len, page.partition("Examples:")[0].splitlines())) <= 100
    assert main(["help", command]) == 0
    assert capsys.readouterr().out == page


@pytest.mark.parametrize("name", list(methods()))
def test_every_method_has_a_page_with_its_parameters(name, capsys):
    assert main(["embed", "--method", name, "--help"]) == 0
    page = capsys.readouterr().out
    assert f"options of {name}:" in page
    for parameter in methods()[name].parameters:
        if parameter.name not in ("callback", "verbose", "random_state", "n_jobs"):
            assert f"--{parameter.name.replace('_', '-')}" in page
    assert "--seed" in page
    assert "--threads" in page
    assert "callback" not in page
    assert "`" not in page


def test_the_methods_are_listed_with_what_they_keep(capsys):
    assert main(["embed", "--help"]) == 0
    page = capsys.readouterr().out
    assert set(KEEPS) == set(methods())
    for name, words in KEEPS.items():
        assert f"  {name} " in page
        assert words in page
    assert "tsne                 neighbours stay neighbours: the usual picture of groups (default)" in page


def test_a_chosen_part_adds_its_options(capsys):
    main(["embed", "--method", "tsne", "--repulsion", "barnes-hut", "--help"])
    assert "--repulsion-theta" in capsys.readouterr().out
    main(["embed", "--method", "tsne", "--help"])
    page = capsys.readouterr().out
    assert "--repulsion-theta" not in page
    assert "--repulsion barnes-hut --help shows them" in " ".join(page.split())


def test_version(capsys):
    import lowdim

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"lowdim {lowdim.__version__}\n"


def test_marks_on_a_terminal_only(capsys, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    main(["plan", "--help"])
    assert "\033[1mresults:\033[0m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    main(["plan", "--help"])
    assert "\033" not in capsys.readouterr().out
