"""A parser whose help teaches by example and whose complaints name what was probably meant."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from .options.wording import renamed
from .usage import UsageError, nearest

Explain = Callable[[str], str]
"""What to say about an option that the parser does not know; empty where there is nothing to say."""

_WIDEST = 100
_REWORDED = (
    (r"argument (.*): expected (?:one|at least one) argument", r"\1 needs a value."),
    (r"argument (.*?): ignored explicit argument (.*)", r"\1 takes no value; got \2."),
    (r"argument (.*?): (not allowed with) argument (.*)", r"\1 and \3 exclude each other: give one of them."),
    (r"argument (.*?): (.*)", r"\1: \2"),
)


class _Formatter(argparse.HelpFormatter):
    """Help in the width of the terminal, with examples left as they are."""

    def __init__(self, prog: str) -> None:
        width = min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns) - 2
        super().__init__(prog, max_help_position=28, width=max(width, 40))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        filled = []
        for part in text.strip().split("\n\n"):
            is_laid_out = any(line.startswith(" ") for line in part.splitlines())
            filled.append(part if is_laid_out else super()._fill_text(part, width, indent))
        return "\n\n".join(filled)


class Parser(argparse.ArgumentParser):
    """The parser of one command.

    Parameters
    ----------
    command
        Its name.
    usage
        What comes after the name, such as ``DATA [options]``.
    text
        What it does, in sentences.
    examples
        Commands to learn from, each with what it does.
    """

    def __init__(self, command: str, usage: str, text: str, examples: Iterable[tuple[str, str]]) -> None:
        shown = "\n".join(f"  {line}\n      {meaning}" for line, meaning in examples)
        super().__init__(
            prog=f"lowdim {command}",
            usage=f"lowdim {command} {usage}",
            description=text,
            epilog=f"Examples:\n{shown}",
            formatter_class=_Formatter,
            allow_abbrev=False,
            add_help=False,
        )
        # From Python 3.14 on it would colour by itself, before `coloured` does.
        self.color = False
        self._positionals.title = "arguments"
        self.positionals: list[tuple[str, bool]] = []
        self.explain: Explain = lambda _: ""
        self.words: dict[str, tuple[str, ...]] = {}
        """Words that an option takes, for completion."""

    def add_positional(self, name: str, text: str, *, required: bool = True, many: bool = False) -> None:
        """An argument without a flag; whether it is there is checked after unknown options have been named."""
        self.positionals.append((name, required))
        self.add_argument(name.lower(), metavar=name, nargs="*" if many else "?", help=text)

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The options, or a UsageError that says what is wrong."""
        found, rest = self.parse_known_intermixed_args(list(arguments))
        flags = [word for word in rest if word.startswith("-") and word != "-"]
        if flags:
            raise UsageError(self._unknown(flags[0].partition("=")[0]))
        if rest:
            takes = " and ".join(name for name, _ in self.positionals) or "no argument"
            raise UsageError(f"{rest[0]!r} is one argument too many: {self.prog} takes {takes}.")
        for name, required in self.positionals:
            if required and not getattr(found, name.lower()):
                raise UsageError(f"{name} is missing.{self._swallowed(found)}")
        return found

    def error(self, message: str) -> NoReturn:
        """Complain in the words of this program."""
        worded = (
            re.sub(pattern, words, message) for pattern, words in _REWORDED if re.fullmatch(pattern, message)
        )
        raise UsageError(next(worded, message))

    def flags(self) -> list[str]:
        """Every option that it knows."""
        return list(self._option_string_actions)

    def action(self, flag: str) -> argparse.Action | None:
        """What stands behind an option."""
        return self._option_string_actions.get(flag)

    def _unknown(self, flag: str) -> str:
        own = renamed(flag)
        if own in self.flags():
            return f"{self.prog} has no option {flag}. It is called {own} here."
        return f"{self.prog} has no option {flag}.{self.explain(flag) or nearest(flag, self.flags())}"

    def _swallowed(self, found: argparse.Namespace) -> str:
        """--json takes a file name where one follows it, which may have been meant as the data."""
        taken = getattr(found, "json", None)
        if not taken or taken == "-":
            return ""
        return f" (--json took {taken!r} as the file to write: put --json last, or write --json=-.)"


def show_help(parser: argparse.ArgumentParser) -> str:
    """The help text, with headings and options marked where a person reads it on a terminal."""
    return coloured(parser.format_help().replace("usage: ", "Usage: ", 1))


def coloured(text: str) -> str:
    """Marks for a terminal; the plain text elsewhere, and where NO_COLOR is set."""
    if os.environ.get("NO_COLOR") or not (sys.stdout and sys.stdout.isatty()):
        return text
    text = re.sub(r"(?m)^(\S[^\n]*:)$", "\033[1m\\1\033[0m", text)
    text = re.sub(r"(?m)^(Usage: )", "\033[1m\\1\033[0m", text)
    return re.sub(r"(?m)^(  (?:-\w, )?--?[\w-]+)", "\033[36m\\1\033[0m", text)


def comma_list(text: str) -> list[str]:
    """Names with commas between them."""
    return [part.strip() for part in text.split(",") if part.strip()]


def given(options: argparse.Namespace, prefix: str) -> dict[str, Any]:
    """Options whose place begins with a prefix, by what comes after it."""
    return {name[len(prefix) :]: value for name, value in vars(options).items() if name.startswith(prefix)}
