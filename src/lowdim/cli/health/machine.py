"""What the machine gives: threads, memory, room on the disk, a browser."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import webbrowser
from pathlib import Path
from typing import Any

from ...core.memory import address_room, allowed_processors, available_memory
from ...core.parallel import count_workers
from ...core.records import format_bytes
from .finding import GOOD, NOTE, WRONG, Finding

LITTLE_MEMORY, SOME_MEMORY = 256 << 20, 2 << 30
"""Bytes below which lowdim cannot be loaded with any data, and below which data has to be small."""
LITTLE_DISK, SOME_DISK = 100 << 20, 2 << 30
"""The same of folders: below the first a checkpoint or a page fails, below the second a large one."""
SET_BY = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def check_threads() -> Finding:
    """Threads that can be had: as many as processors, no more than the control group pays for."""
    threads, processors = count_workers(None), os.cpu_count() or 1
    share = allowed_processors()
    variables = {name: os.environ[name] for name in SET_BY if name in os.environ}
    figures: dict[str, Any] = {
        "threads": threads,
        "processors": processors,
        "allowed_processors": share,
        "variables": variables,
    }
    if not _starts_a_thread():
        return Finding(
            "threads",
            WRONG,
            "no thread can be started: the limit of processes and threads is reached",
            "Raise it (ulimit -u, or pids of the container), or end other programs.",
            figures,
        )
    if share is not None and share < threads - 0.5:
        fitting = max(1, int(share))
        return Finding(
            "threads",
            NOTE,
            f"{threads} threads are used, and the container or batch system pays for {share:g} processors",
            f"Give --threads {fitting}, or ask for {threads} processors: threads that wait for each other are slower.",
            figures,
        )
    if threads < processors:
        return Finding(
            "threads",
            NOTE,
            f"{threads} of {processors} processors may be used by this process",
            "If that is not meant, start it without taskset, or ask the batch system for more.",
            figures,
        )
    return Finding("threads", GOOD, f"{threads}, as many as processors", figures=figures)


def check_memory() -> Finding:
    """Memory that new work can have, and what limits it."""
    free, address = available_memory(), address_room()
    figures = {"available": free, "address_space_left": address}
    if free is None:
        return Finding(
            "memory",
            NOTE,
            "this system does not tell how much is free",
            "Give --memory-limit where data is large.",
            figures,
        )
    limited = ", by the limit of this process (ulimit -v)" if address is not None and address <= free else ""
    says = f"{format_bytes(free)} for new work{limited}"
    if free < LITTLE_MEMORY:
        return Finding(
            "memory",
            WRONG,
            f"only {says}",
            "Close other programs, or raise the limit of the container, of the batch job or of ulimit -v.",
            figures,
        )
    if free < SOME_MEMORY:
        return Finding(
            "memory",
            NOTE,
            f"only {says}",
            "'lowdim plan DATA' says before the work what a method would hold; landmarks need less.",
            figures,
        )
    return Finding("memory", GOOD, says, figures=figures)


def check_temporary_folder() -> Finding:
    """The folder of temporary files."""
    try:
        folder = Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        return Finding(
            "temporary files", WRONG, f"there is no folder for them: {error}", "Set TMPDIR to a folder."
        )
    return _check_folder("temporary files", folder, "Set TMPDIR to a folder that has it.", needed=True)


def check_current_folder() -> Finding:
    """The folder where results go unless another is named."""
    return _check_folder(
        "this folder", Path.cwd(), "Run lowdim elsewhere, or name files in other folders.", needed=False
    )


def check_browser() -> Finding:
    """Something to look at pages with."""
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return Finding(
            "browser",
            NOTE,
            "none is found, so pages (.html) cannot be looked at here",
            "Copy pages to a machine that has one (each is a single file), or draw .png; else set BROWSER.",
            {"name": None},
        )
    name = str(getattr(found, "name", type(found).__name__))
    return Finding("browser", GOOD, name, figures={"name": name})


def can_write(folder: Path) -> str:
    """Empty where a file can be written into a folder, which is made where it is not there; else why not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"lowdim")
            file.flush()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _check_folder(name: str, folder: Path, cure: str, *, needed: bool) -> Finding:
    failure = can_write(folder)
    bad = WRONG if needed else NOTE
    if failure:
        return Finding(name, bad, f"{folder} cannot be written: {failure}", cure, {"folder": str(folder)})
    free = shutil.disk_usage(folder).free
    figures = {"folder": str(folder), "free": free}
    says = f"{folder}, {format_bytes(free)} free"
    if free < LITTLE_DISK:
        return Finding(name, bad, f"{says}, which is too little", f"Free some room. {cure}", figures)
    if free < SOME_DISK:
        return Finding(
            name, NOTE, f"{says}, which is little", f"For large results free some. {cure}", figures
        )
    return Finding(name, GOOD, says, figures=figures)


def _starts_a_thread() -> bool:
    thread = threading.Thread(target=int)
    try:
        thread.start()
    except RuntimeError:
        return False
    thread.join()
    return True
