"""scikit-learn's own tests, run against lowdim's estimators under scikit-learn's names.

Every test passes or is in `differences.DIFFERENCES` with the reason; one that is there and passes is an error too.
docs/conventions.md says the same to people. A test that fits none of the adapters is scikit-learn's own affair.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path

from .differences import DIFFERENCES, ROUNDED

MODULES = (
    "decomposition/tests/test_pca.py",
    "decomposition/tests/test_incremental_pca.py",
    "decomposition/tests/test_kernel_pca.py",
    "manifold/tests/test_classical_mds.py",
    "manifold/tests/test_isomap.py",
    "manifold/tests/test_locally_linear.py",
    "manifold/tests/test_spectral_embedding.py",
    "manifold/tests/test_t_sne.py",
    "cluster/tests/test_spectral.py",
)
"""Modules of scikit-learn's tests, in its package."""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a test: its outcome, whether it fitted anything of ours, and the last line of its failure."""

    test: str
    outcome: str
    ours: bool
    why: str


def run(amount: int | None = None, seed: int = 0) -> int:
    """``amount`` limits the number of modules; ``seed`` is of no use here."""
    broken = 0
    for module in MODULES[:amount]:
        results = [result for result in results_of(module) if result.ours and result.outcome != "skipped"]
        faults = judge(results)
        listed = sum(difference_of(result.test) is not None for result in results)
        print(f"  {module:<45} {len(results) - listed:4} as theirs {listed:4} otherwise", flush=True)
        for fault in faults:
            print(f"BROKEN {fault}", flush=True)
        broken += len(faults) + (not results)
    return int(broken > 0)


def results_of(module: str, *options: str) -> list[Result]:
    """Run the tests of a module in a process of their own, with the adapters in place."""
    spec = find_spec("sklearn")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("scikit-learn")
    package, here = Path(spec.origin).parent, Path(__file__).parents[2]
    with tempfile.TemporaryDirectory() as folder:
        file, settings = Path(folder) / "results", Path(folder) / "pytest.ini"
        file.touch()
        settings.write_text("[pytest]\n", encoding="utf-8")
        paths = os.pathsep.join([str(here), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "pytest", "-q", "-c", str(settings), f"--rootdir={package}"]
        command += [
            f"--confcutdir={package}",
            "-p",
            f"{__name__}.plugin",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:randomly",
        ]
        done = subprocess.run(
            [*command, "--import-mode=importlib", *options, str(package / module)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": paths, "LOWDIM_SCIKIT_LEARN_RESULTS": str(file)},
            capture_output=True,
            text=True,
            check=False,
        )
        lines = file.read_text(encoding="utf-8").splitlines()
        if done.returncode > 1 or not lines:
            raise RuntimeError(f"{module} could not be run:\n{done.stdout}\n{done.stderr}")
    parsed = map(json.loads, lines)
    return [Result(one["test"], one["outcome"], one["ours"], one["why"]) for one in parsed]


def judge(results: list[Result]) -> list[str]:
    """What is wrong: a failure that is not listed, a listed one that passes, and an entry that no test has."""
    faults = []
    for result in results:
        if any(matches(result.test, pattern) for pattern in ROUNDED):
            continue
        reason = difference_of(result.test)
        if result.outcome == "failed" and reason is None:
            faults.append(f"{result.test}: {result.why}")
        if result.outcome == "passed" and reason is not None:
            faults.append(f"{result.test} passes, but is listed as different: {reason}")
    modules = {result.test.split("::")[0] for result in results}
    unused = (
        pattern
        for pattern in (*DIFFERENCES, *ROUNDED)
        if pattern.partition("::")[0] in modules
        and not any(matches(result.test, pattern) for result in results)
    )
    faults += (f"{pattern} is listed as different, and no such test was run" for pattern in unused)
    return faults


def difference_of(test: str) -> str | None:
    """Why a test is expected to fail; None where it is not."""
    return next((reason for pattern, reason in DIFFERENCES.items() if matches(test, pattern)), None)


def matches(test: str, pattern: str) -> bool:
    """Whether a test is meant: ``*`` stands for anything, and without ``[`` all its parameters are."""
    name = test if "[" in pattern else test.split("[", maxsplit=1)[0]
    return fnmatchcase(name.replace("[", "("), pattern.replace("[", "("))
