"""Ctrl-C, SIGTERM and a closed terminal: acknowledged at once, whatever the program is in, and then an interrupt."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from ...core.system import ENDING, never_wait

STOPPING = "Interrupted: stopping. What is worth keeping is written first; once more to stop without."


@contextmanager
def heeding(tell: Callable[[str], None]) -> Generator[None]:
    """While this is open, SIGTERM and SIGHUP are interrupts as Ctrl-C is, and ``tell`` says at once that one has come.

    Python handles signals between two steps of its own, which a long compiled loop keeps waiting. So a thread
    acknowledges them: compiled loops let other threads run. Everything is as before when this closes; beside the main
    thread nothing can be done, and nothing is.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reading, writing = os.pipe()
    never_wait(writing)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    # A program that was told to ignore them, or has its own way with them, keeps to it.
    heard = {signal.SIGINT} if signal.getsignal(signal.SIGINT) == signal.default_int_handler else set()
    plain = [number for number in ENDING if signal.getsignal(number) == signal.SIG_DFL]
    for number in plain:
        signal.signal(number, _interrupt)
        heard.add(number)
    listener = threading.Thread(target=_listen, args=(reading, heard, tell), daemon=True)
    listener.start()
    try:
        yield
    finally:
        for number in plain:
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(before)
        os.close(writing)
        listener.join()


def _interrupt(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def _listen(reading: int, heard: set[signal.Signals], tell: Callable[[str], None]) -> None:
    """Acknowledge every signal until the other end of the pipe is closed."""
    with os.fdopen(reading, "rb", buffering=0) as numbers:
        while number := numbers.read(1):
            if number[0] in heard:
                tell(STOPPING)
