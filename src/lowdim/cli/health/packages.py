"""The packages that lowdim stands on, and those that it can use: whether they are there, and new enough."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import metadata

from .finding import GOOD, NOTE, WRONG, Finding

_REQUIREMENT = re.compile(r"\s*([\w.-]+)(?:\[[^\]]*\])?\s*(?:>=\s*([\d.]+))?")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([\w-]+)['\"]")
UNSAID = ("bench",)
"""Extras that are for work on lowdim itself."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A package, its least version, and the extra that brings it; no extra: it is needed."""

    package: str
    least: str = ""
    extra: str = ""

    def fault(self, version: str | None) -> str:
        """What is wrong with the version that is there, None: with its being absent; empty where nothing is."""
        if version is None:
            return "" if self.extra else f"{self.package} is missing"
        is_met = numbers(version) >= numbers(self.least)
        return "" if is_met else f"{self.package} {version} is older than {self.least}"

    def __str__(self) -> str:
        return f"'{self.package}>={self.least}'" if self.least else self.package


def requirements(lines: Iterable[str] | None = None) -> list[Requirement]:
    """What lowdim's own metadata asks for; nothing where it is not installed."""
    if lines is None:
        try:
            lines = metadata.requires("lowdim") or []
        except metadata.PackageNotFoundError:
            lines = []
    found = []
    for line in lines:
        words, _, condition = line.partition(";")
        match, extra = _REQUIREMENT.match(words), _EXTRA.search(condition)
        if match and match[1] != "lowdim" and (extra is None or extra[1] not in UNSAID):
            found.append(Requirement(match[1], match[2] or "", extra[1] if extra else ""))
    return found


def installed(package: str) -> str | None:
    """The version of a package, None where it is not there."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def numbers(version: str) -> tuple[int, ...]:
    """1.10.2rc1 as (1, 10, 2): what comes after the numbers does not count, nor do zeros at the end."""
    parts = re.match(r"[\d.]*", version)
    whole = [int(part) for part in (parts[0] if parts else "").split(".") if part]
    while whole and whole[-1] == 0:
        whole.pop()
    return tuple(whole)


def check_packages(
    wanted: list[Requirement] | None = None, version_of: Callable[[str], str | None] = installed
) -> Finding:
    """Needed packages that are missing or too old are wrong, optional ones to know; optional and too old is wrong."""
    wanted = requirements() if wanted is None else wanted
    if not wanted:
        return Finding(
            "packages",
            NOTE,
            "lowdim runs from its sources, so that nothing says which packages it needs",
            "Install it: pip install . in its folder.",
        )
    versions = {each.package: version_of(each.package) for each in wanted}
    wrong = {each: fault for each in wanted if (fault := each.fault(versions[each.package]))}
    if wrong:
        cure = f"pip install --upgrade {' '.join(map(str, wrong))}"
        return Finding("packages", WRONG, "; ".join(wrong.values()), cure, versions)
    absent: dict[str, list[str]] = {}
    for each in wanted:
        if versions[each.package] is None:
            absent.setdefault(each.extra, []).append(each.package)
    needed = sum(not each.extra for each in wanted)
    says = f"all {needed} that are needed are there"
    if not absent:
        return Finding("packages", GOOD, f"{says}, and all optional ones", figures=versions)
    listed = ", ".join(sorted({name for names in absent.values() for name in names}))
    return Finding(
        "packages",
        NOTE,
        f"{says}; optional and not installed: {listed}",
        f"Where one is needed: pip install 'lowdim[{','.join(sorted(absent))}]', or some of these extras.",
        versions,
    )
