"""``lowdim doctor``: whether this installation is sound, and what to do where it is not."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..files.targets import STANDARD, check_all, write_json, write_text, writing
from ..options.shared import add_force, add_json, add_talk
from ..parser import Parser
from ..program import DONE, FAILED
from ..session import Session

if TYPE_CHECKING:
    from ..health.finding import Finding

TEXT = """\
Check this installation: packages, compiled kernels and the folder for them, a small fit, threads, memory, temporary
files, room on the disk, and the browser. Of each it says how it is, and where that is not good what to do. The exit
code is 1 where something is wrong; what is only worth knowing leaves it 0.
"""
EXAMPLES = [
    ("lowdim doctor", "all checks"),
    ("lowdim doctor --json", "for machines"),
]
WIDTH = 100
CHECKS = (
    ("packages", "packages", "check_packages"),
    ("kernels", "kernels", "check_kernels"),
    ("kernel cache", "kernels", "check_kernel_folder"),
    ("a fit", "kernels", "check_a_fit"),
    ("threads", "machine", "check_threads"),
    ("memory", "machine", "check_memory"),
    ("temporary files", "machine", "check_temporary_folder"),
    ("this folder", "machine", "check_current_folder"),
    ("browser", "machine", "check_browser"),
)
"""Every check with its module and function, those first without which the others would mean little."""


def make_parser(arguments: list[str]) -> Parser:
    """Options of the command."""
    parser = Parser("doctor", "[options]", TEXT, EXAMPLES)
    group = parser.add_argument_group("results")
    add_json(group, "the same")
    add_force(group)
    add_talk(parser)
    return parser


def run(options: argparse.Namespace, session: Session) -> int:
    """Make the checks, one after the other."""
    check_all([("--json", options.json)], force=options.force, inputs=())
    with session.stage("check"):
        findings = [checked(*check) for check in CHECKS]
    session.quieten()
    with writing(session) as results:
        if options.json is None:
            results.write(STANDARD, lambda: write_text(STANDARD, report(findings), force=False, inputs=()))
        content = described(findings)
        results.write(options.json, lambda: write_json(options.json, content, force=options.force, inputs=()))
    return DONE if content["sound"] else FAILED


def checked(name: str, module: str, function: str) -> Finding:
    """What a check finds; where it cannot be made at all, since a package is missing, that."""
    from ..health.finding import WRONG, Finding

    try:
        check = getattr(import_module(f"...health.{module}", __name__), function)
        found: Finding = check()
    except Exception as error:  # noqa: BLE001 - one check that fails must not cost the others
        said = f"this cannot be checked: {type(error).__name__}: {error}"
        return Finding(name, WRONG, said, "See to what is wrong above first; else install lowdim anew.")
    return found


def described(findings: Sequence[Finding]) -> dict[str, Any]:
    """What was found, for machines."""
    from ... import __version__
    from ..health.finding import WRONG

    return {
        "lowdim": __version__,
        "sound": all(finding.state != WRONG for finding in findings),
        "checks": [finding.to_json() for finding in findings],
    }


def report(findings: Sequence[Finding]) -> str:
    """A line for each check, advice below it, and the sum at the end."""
    from ..health.finding import GOOD, NOTE, WRONG

    marks = {GOOD: "ok   ", NOTE: "note ", WRONG: "WRONG"}
    widest = max(len(finding.name) for finding in findings) + 2
    indent = " " * (len(marks[GOOD]) + 1 + widest)
    lines = []
    for finding in findings:
        head = f"{marks[finding.state]} {finding.name:<{widest}}"
        lines += textwrap.wrap(finding.says, WIDTH, initial_indent=head, subsequent_indent=indent)
        if finding.advice:
            lines += textwrap.wrap(
                finding.advice, WIDTH, initial_indent=f"{indent}-> ", subsequent_indent=f"{indent}   "
            )
    wrong = [finding.name for finding in findings if finding.state == WRONG]
    notes = sum(finding.state == NOTE for finding in findings)
    said = f"Wrong: {', '.join(wrong)}." if wrong else "Nothing is wrong."
    more = f" {notes} {'thing' if notes == 1 else 'things'} to know." if notes else ""
    return "\n".join([*lines, "", said + more])
