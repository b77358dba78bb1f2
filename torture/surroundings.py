"""Everything that a library could change behind its user's back, as a snapshot to compare with a later one."""

from __future__ import annotations

import atexit
import decimal
import gc
import json
import locale
import logging
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

OTHERS = (
    "numba",
    "sklearn",
    "scipy.linalg",
    "scipy.fft",
    "pyarrow",
    "matplotlib.pyplot",
    "pandas",
    "polars",
    "torch",
)


def load_others() -> dict[str, Any]:
    """The libraries with settings of their own that are installed: to import them changes some, so do it first."""
    return {name: import_module(name) for name in OTHERS if find_spec(name.split(".")[0]) is not None}


def snapshot() -> dict[str, Any]:
    """The state of this process and of the libraries in it, by name."""
    random_name, keys, *places = np.random.get_state()  # noqa: NPY002 - the legacy state is what is looked at
    return (
        {
            "random": random.getstate(),
            "numpy.random": (random_name, keys.tobytes(), *places),
            "warnings.filters": list(warnings.filters),
            "warnings.showwarning": warnings.showwarning,
            "signals": {number: signal.getsignal(number) for number in signal.valid_signals()},
            "locale": locale.setlocale(locale.LC_ALL),
            "time zone": time.tzname,
            "folder": os.getcwd(),  # noqa: PTH109 - as the system says it
            "environment": dict(os.environ),
            "umask": _umask(),
            "limits": {
                name: resource.getrlimit(getattr(resource, name))
                for name in dir(resource)
                if name[:4] == "RLIM" and name != "RLIM_INFINITY"
            },
            "processors": sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
            "priority": os.getpriority(os.PRIO_PROCESS, 0),
            "root logger": (logging.root.level, list(logging.root.handlers), logging.root.manager.disable),
            "logger": _logger("lowdim"),
            "decimal": repr(decimal.getcontext()),
            "numpy errors": (np.geterr(), np.geterrcall()),
            "numpy printing": np.get_printoptions(),
            "path": list(sys.path),
            "importers": (list(sys.meta_path), list(sys.path_hooks)),
            "hooks": (
                sys.excepthook,
                sys.displayhook,
                sys.unraisablehook,
                threading.excepthook,
                sys.breakpointhook,
            ),
            "tracing": (sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile()),
            "recursion": sys.getrecursionlimit(),
            "switches": sys.getswitchinterval(),
            "streams": (sys.stdin, sys.stdout, sys.stderr),
            "garbage": (gc.isenabled(), gc.get_threshold(), len(gc.callbacks)),
            "exits": atexit._ncallbacks(),
            "sockets": socket.getdefaulttimeout(),
            "threads": sorted(thread.name for thread in threading.enumerate()),
        }
        | _libraries()
    )


def _libraries() -> dict[str, Any]:
    """Settings of the libraries that are loaded."""
    from threadpoolctl import threadpool_info

    found: dict[str, Any] = {
        "thread pools": {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}
    }
    ask = {
        "numba": lambda numba: (numba.get_num_threads(), numba.config.NUMBA_NUM_THREADS),
        "sklearn": lambda sklearn: sklearn.get_config(),
        "scipy.fft": lambda fft: fft.get_workers(),
        "pyarrow": lambda arrow: (arrow.cpu_count(), arrow.io_thread_count()),
        "matplotlib.pyplot": lambda pyplot: (
            pyplot.get_backend(),
            pyplot.isinteractive(),
            pyplot.get_fignums(),
            repr(dict(pyplot.rcParams)),
        ),
        "pandas": lambda pandas: {name: pandas.get_option(name) for name in _pandas_options()},
        "polars": lambda polars: polars.Config.state(),
        "torch": lambda torch: (
            torch.get_num_threads(),
            torch.get_num_interop_threads(),
            torch.initial_seed(),
        ),
    }
    for name, look in ask.items():
        if name in sys.modules:
            found[name] = look(sys.modules[name])
    return found


def changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Names of what two snapshots disagree on.

    A pool of threads that was not there before changes nothing, nor does the end of a thread that somebody else began.
    """
    pools = {path: after["thread pools"].get(path, size) for path, size in before["thread pools"].items()}
    after = after | {"thread pools": pools}
    if not Counter(after["threads"]) - Counter(before["threads"]):
        after["threads"] = before["threads"]
    return [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]


def find_changes(actions: Mapping[str, Callable[[], object]]) -> dict[str, list[str]]:
    """What each action leaves changed, of those that leave anything so."""
    found = {}
    for name, action in actions.items():
        before = snapshot()
        action()
        if names := changed(before, snapshot()):
            found[name] = names
    return found


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _logger(name: str) -> Any:
    logger = logging.root.manager.loggerDict.get(name)
    if not isinstance(logger, logging.Logger):
        return None
    return logger.level, list(logger.handlers), logger.propagate, logger.disabled


def _pandas_options() -> list[str]:
    """Options but for the deprecated ones, which warn when they are read."""
    from pandas._config import config

    return sorted(config._registered_options.keys() - config._deprecated_options.keys())


_ALONE = """
import json, sys, warnings
warnings.simplefilter("ignore")
from torture.catalogue import Points, methods
from torture.surroundings import find_changes, load_others, snapshot
size, seed, *names = sys.argv[1:]
load_others(), snapshot()
points, known = Points.draw(int(size), int(seed)), methods(2)
changes = find_changes({name: lambda name=name: known[name](points, 2) for name in names or known})
print(json.dumps(changes))
"""


def changes_by_methods(names: Sequence[str] = (), size: int = 300, seed: int = 0) -> dict[str, list[str]]:
    """What methods, all of them without a name, leave changed in a new process, where nothing else is on its way."""
    said = subprocess.run(
        [sys.executable, "-c", _ALONE, str(size), str(seed), *names],
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, list[str]] = json.loads(said.stdout)
    return found


def run(amount: int | None = None, seed: int = 0) -> int:
    """Every method on ``amount`` points (300 by default); 1 if any changes something."""
    found = changes_by_methods(size=amount or 300, seed=seed)
    print("\n".join(f"{name}: {', '.join(what)}" for name, what in found.items()) or "nothing is changed")
    return 1 if found else 0
