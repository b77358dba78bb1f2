"""From the words typed to an exit code: finds the command, runs it, and says what went wrong."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from .terminal.streams import drop_unwritable_output, emit, end_at_once, open_closed_streams, write_error
from .usage import UsageError, nearest

COMMANDS = {
    "embed": "turn many-dimensional data into a few coordinates, pictures, a model",
    "explore": "open a local page where the embedding moves as you drag its parameters",
    "transform": "place new data on the map of a model",
    "update": "let a model grow by new data, its picture staying put",
    "explain": "say which features put some rows here and not there",
    "sweep": "try values of parameters and compare the results",
    "score": "measure how faithful an embedding is",
    "plot": "draw an embedding",
    "plan": "say what an embedding would cost, in seconds and bytes",
    "info": "describe a model, a data file, or this installation",
    "doctor": "check this installation and say what to do about it",
    "demo": "see lowdim at work on digits and a Swiss roll",
    "reproduce": "run experiments of the papers, with figures and verdicts",
    "completion": "print the completions for your shell",
}
DONE, FAILED, WRONG_USE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments
        The words after ``lowdim``; by default those that this process was started with.

    Returns
    -------
    int
        0: done; 1: it failed and said why; 2: wrong use; 130: interrupted; 141: the reader of its output went away.
    """
    if arguments is not None:
        return _answer(list(arguments))
    open_closed_streams()
    code = _answer(sys.argv[1:])
    if code == INTERRUPTED:
        end_at_once(code)
    return code


def _answer(words: list[str]) -> int:
    command = words[0] if words and words[0] in COMMANDS else ""
    try:
        return _dispatch(words)
    except UsageError as error:
        _complain(command, f"{error}\nTry 'lowdim {command + ' ' if command else ''}--help'.")
        return WRONG_USE
    except KeyboardInterrupt as error:
        written = ", ".join(getattr(error, "written", ()))
        said = f"interrupted: {f'only {written}' if written else 'nothing'} was written."
        _complain(command, said + "".join(getattr(error, "__notes__", ())), kind="")
        return INTERRUPTED
    except BrokenPipeError:
        drop_unwritable_output()
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - the last line of defence: people get a sentence, not a traceback
        return _fail(command, words, error)


def _dispatch(words: list[str]) -> int:
    if words[:1] == ["help"]:
        words = [*words[1:2], "--help"]
    if not words or words[0] in ("-h", "--help"):
        from .parser import coloured

        emit(coloured(first_page()))
        return DONE
    if words[0] in ("-V", "--version"):
        from .. import __version__

        emit(f"lowdim {__version__}")
        return DONE
    if words[0] == "--complete":
        from .commands.completion import print_candidates

        return print_candidates(words[1:])
    return _run(words[0], words[1:])


def first_page() -> str:
    """What lowdim is, its commands, and the first things to type."""
    width = max(map(len, COMMANDS)) + 2
    listed = "\n".join(f"  {name:<{width}}{what}" for name, what in COMMANDS.items())
    return f"""\
lowdim turns many-dimensional data into a few coordinates to look at, cluster and search.

Usage: lowdim COMMAND ...

Commands:
{listed}

Begin with:
  lowdim embed cells.csv --label type --plot cells.png
      a picture of a table, coloured by its column 'type'
  lowdim embed cells.csv --label type --plot cells.html --report cells-report.html
      a page to zoom and select in, and a report of what was done and how good it is
  lowdim embed cells.npy --method isomap -k 15 -o map.npy --model cells.lowdim
      coordinates by Isomap, and a model; then place new data on the same map:
  lowdim transform cells.lowdim more-cells.npy -o more.npy

'lowdim COMMAND --help' teaches a command, 'lowdim embed --help' lists the methods and
'lowdim embed --method isomap --help' what can be set of one.

Options:
  -h, --help     this page
  -V, --version  the version
"""


def _run(name: str, arguments: list[str]) -> int:
    if name not in COMMANDS:
        what = "option" if name.startswith("-") else "command"
        raise UsageError(f"there is no {what} {name!r}.{nearest(name, COMMANDS)}")
    command = import_module(f".commands.{name}", __package__)
    parser = command.make_parser(arguments)
    if {"-h", "--help"} & set(arguments):
        from .parser import show_help

        emit(show_help(parser))
        return DONE
    options = parser.parse(arguments)
    from .session import Session

    session = Session(options, [name, *arguments])
    with session.working():
        code: int = command.run(options, session)
    return code


def _fail(command: str, words: list[str], error: Exception) -> int:
    """One clear message; the traceback only where all is wanted."""
    from .failures import explain

    if {"-vv", "-vvv"} & set(words) or sum(word in ("-v", "--verbose") for word in words) > 1:
        import traceback

        traceback.print_exception(error)
    _complain(command, explain(error))
    drop_unwritable_output()
    return FAILED


def _complain(command: str, message: str, kind: str = "error: ") -> None:
    write_error(f"lowdim{' ' + command if command else ''}: {kind}{message}\n")
