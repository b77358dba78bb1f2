"""What may come next on the command line, for the completions of the shells."""

from __future__ import annotations

from importlib import import_module

from .parser import Parser
from .usage import UsageError
from .voice import emit


def answer(words: list[str]) -> int:
    """Print the candidates for the last word, one to a line; nothing where a file name is wanted."""
    found = candidates(words or [""])
    if found:
        emit("\n".join(found))
    return 0


def candidates(words: list[str]) -> list[str]:
    """What the last word may become."""
    from .program import COMMANDS

    *before, last = words
    if not before:
        return [name for name in COMMANDS if name.startswith(last)]
    if before[0] not in COMMANDS:
        return []
    found = _of_command(before[0], before[1:], last)
    return [word for word in found if word.startswith(last)]


def _of_command(command: str, before: list[str], last: str) -> list[str]:
    if command == "completion":
        from .commands.completion import SCRIPTS

        return list(SCRIPTS)
    if command == "reproduce" and not last.startswith("-"):
        from .commands.reproduce import find_experiments

        return ["all", *(name for name, _ in find_experiments().catalogue())]
    try:
        parser: Parser = import_module(f".commands.{command}", __package__).make_parser(before)
    except UsageError:
        return []
    previous = before[-1] if before else ""
    if previous in ("-m", "--method"):
        from .introspection import methods

        return list(methods())
    action = parser.action(previous)
    if action is not None and action.nargs != 0:
        return list(parser.words.get(previous, ()))
    return [flag for flag in parser.flags() if flag.startswith("--")] if last.startswith("-") else []
