"""``lowdim completion``: what a shell needs to complete commands, methods, options and values."""

from __future__ import annotations

import argparse

from ..groups import add_talk
from ..parser import Parser
from ..program import DONE
from ..session import Session
from ..usage import UsageError, nearest
from ..voice import emit

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
