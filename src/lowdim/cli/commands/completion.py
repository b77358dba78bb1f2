"""``lowdim completion``: what a shell needs to complete commands, methods, options and values."""

from __future__ import annotations

import argparse
from importlib import import_module

from ..options.shared import add_talk
from ..options.table import methods
from ..parser import Parser
from ..program import COMMANDS, DONE
from ..session import Session
from ..terminal.streams import emit
from ..usage import UsageError, nearest

TEXT = """\
Print a script for your shell. With it, the Tab key completes commands, methods, options, their values and files.

  bash: put this line into ~/.bashrc:    eval "$(lowdim completion bash)"
  zsh:  put this line into ~/.zshrc, after compinit:    eval "$(lowdim completion zsh)"
  fish: lowdim completion fish > ~/.config/fish/completions/lowdim.fish
"""
EXAMPLES = [('eval "$(lowdim completion bash)"', "completions in this shell, at once")]

BASH = """\
_lowdim() {
    local IFS=$'\\n' word="${COMP_WORDS[COMP_CWORD]}"
    COMPREPLY=($(compgen -W "$(lowdim --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "$word"))
    if [[ ${#COMPREPLY[@]} -eq 0 ]]; then
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}
complete -o filenames -o bashdefault -F _lowdim lowdim
"""
ZSH = """\
_lowdim() {
    local -a found
    found=("${(@f)$(lowdim --complete "${(@)words[2,$CURRENT]}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then
        compadd -a found
    else
        _files
    fi
}
compdef _lowdim lowdim
"""
FISH = """\
function __lowdim_complete
    set -l words (commandline -opc) (commandline -ct)
    lowdim --complete $words[2..-1] 2>/dev/null
end
complete -c lowdim -a '(__lowdim_complete)'
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def make_parser(arguments: list[str]) -> Parser:
    """Options of the command."""
    parser = Parser("completion", "bash|zsh|fish", TEXT, EXAMPLES)
    parser.add_positional("SHELL", "bash, zsh or fish")
    add_talk(parser)
    return parser


def run(options: argparse.Namespace, session: Session) -> int:
    """Print the script."""
    if options.shell not in SCRIPTS:
        raise UsageError(
            f"there are completions for bash, zsh and fish; got {options.shell!r}.{nearest(options.shell, SCRIPTS)}"
        )
    emit(SCRIPTS[options.shell])
    return DONE


def print_candidates(words: list[str]) -> int:
    """Print the candidates for the last word, one to a line; nothing where a file name is wanted."""
    found = candidates(words or [""])
    if found:
        emit("\n".join(found))
    return DONE


def candidates(words: list[str]) -> list[str]:
    """What the last word may become."""
    *before, last = words
    if not before:
        return [name for name in COMMANDS if name.startswith(last)]
    if before[0] not in COMMANDS:
        return []
    found = _of_command(before[0], before[1:], last)
    return [word for word in found if word.startswith(last)]


def _of_command(command: str, before: list[str], last: str) -> list[str]:
    if command == "completion":
        return list(SCRIPTS)
    if command == "reproduce" and not last.startswith("-"):
        from .reproduce import find_experiments

        return ["all", *(name for name, _ in find_experiments().catalogue())]
    try:
        parser: Parser = import_module(f".{command}", __package__).make_parser(before)
    except UsageError:
        return []
    previous = before[-1] if before else ""
    if previous in ("-m", "--method"):
        return list(methods())
    action = parser.action(previous)
    if action is not None and action.nargs != 0:
        return list(parser.words.get(previous, ()))
    return [flag for flag in parser.flags() if flag.startswith("--")] if last.startswith("-") else []
