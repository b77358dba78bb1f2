"""A proxy between the workers or the client of a cluster and its scheduler that drops, delays and halves.

All that goes through it arrives, in order, until a connection is cut: as TCP has it. Now and then the next bytes that
come meet with trouble. Either the connection is dropped; or they wait; or half of them is sent, and after a silence the
connection is dropped.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from contextlib import suppress

CHUNK = 1 << 16
KINDS = ("drop", "delay", "halve")


class Proxy(threading.Thread):
    """Listens on loopback, and hands everything on to a port there.

    Parameters
    ----------
    port
        Of the server behind it.
    every
        Seconds between two troubles, from and to; None: no trouble.
    longest
        Seconds of the longest delay, or silence.
    seed
        Of what is drawn at random.
    """

    def __init__(
        self, port: int, every: tuple[float, float] | None, *, longest: float = 3.0, seed: int = 0
    ) -> None:
        super().__init__(daemon=True)
        self.met: Counter[str] = Counter()
        self.kinds = KINDS
        self.port = 0
        self._server, self._every, self._longest = port, every, longest
        self._random = random.Random(seed)
        self._is_up, self._over = threading.Event(), asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._due = 0.0

    def __enter__(self) -> Proxy:
        self.start()
        self._is_up.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self.join()

    def run(self) -> None:
        """Serve until it is over."""
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    def calm(self) -> None:
        """No trouble from now on."""
        self._every = None

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._postpone()
        self._is_up.set()
        await self._over.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _postpone(self) -> None:
        if self._every is not None:
            self._due = self._loop.time() + self._random.uniform(*self._every)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hand on what comes, both ways, until either side ends or trouble does."""
        try:
            behind, ahead = await asyncio.open_connection("127.0.0.1", self._server)
        except OSError:
            writer.transport.abort()
            return
        ways = [asyncio.ensure_future(self._pass(*each)) for each in ((reader, ahead), (behind, writer))]
        with suppress(asyncio.CancelledError):
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        for each in (writer, ahead):
            each.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(CHUNK):
                kind = self._trouble()
                if kind == "drop":
                    return
                if kind is not None:
                    writer.write(data[: len(data) // 2])
                    await writer.drain()
                    await asyncio.sleep(self._random.uniform(0, self._longest))
                    if kind == "halve":
                        return
                    data = data[len(data) // 2 :]
                writer.write(data)
                await writer.drain()

    def _trouble(self) -> str | None:
        """What the bytes that have come meet with."""
        if self._every is None or self._loop.time() < self._due:
            return None
        self._postpone()
        kind = self._random.choice(self.kinds)
        self.met[kind] += 1
        return kind
