"""Workers that are killed, stopped or cut off under a fit lose nothing: the short form of the storms."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from torture._proxy import KINDS, Proxy

PATIENCE = 60.0
"""Seconds after which a socket that nothing comes from is a failure, and no more waited for."""


@contextmanager
def collecting() -> Iterator[tuple[int, list[bytes], threading.Event]]:
    """A server that takes what comes over one connection: its port, what came, and whether the connection has ended."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        came: list[bytes] = []
        ended = threading.Event()

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                try:
                    while data := connection.recv(1 << 16):
                        came.append(data)
                except ConnectionResetError:
                    pass
            ended.set()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1], came, ended
        thread.join(PATIENCE)


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_a_proxy_drops_delays_and_halves(kind: str | None) -> None:
    sent = bytes(range(256))
    with (
        collecting() as (port, came, ended),
        Proxy(port, None if kind is None else (0.0, 0.0), longest=0.0) as proxy,
    ):
        proxy.kinds = () if kind is None else (kind,)
        with socket.create_connection(("127.0.0.1", proxy.port), timeout=PATIENCE) as connection:
            connection.sendall(sent)
            if kind in ("drop", "halve"):
                with suppress(ConnectionResetError):
                    assert connection.recv(1) == b""
            else:
                connection.shutdown(socket.SHUT_WR)
                assert connection.recv(1) == b""
        assert ended.wait(PATIENCE)
    wanted = {"drop": b"", "halve": sent[:128]}.get(kind or "", sent)
    assert b"".join(came) == wanted
    assert proxy.met.total() == (kind is not None)


@pytest.mark.slow
def test_a_few_kills() -> None:
    pytest.importorskip("distributed")
    from torture import storms

    assert not storms.killed(storms.fit(), 5, 0)
    assert not storms.killed_with_nannies(storms.fit(), 2, 0)


@pytest.mark.slow
@pytest.mark.parametrize("storm", ["aborted", "through_a_proxy"])
def test_a_few_troubles_of_connections(storm: str) -> None:
    pytest.importorskip("distributed")
    from torture import _storm_connections, storms

    assert not getattr(_storm_connections, storm)(storms.fit, storms.fit(), 5, 0)


@pytest.mark.slow
def test_a_worker_that_is_stopped() -> None:
    pytest.importorskip("distributed")
    from torture import _storm_workers, storms

    assert not _storm_workers.stopped(storms.fit, storms.fit(), 1)


@pytest.mark.slow
def test_a_worker_that_joins_midway() -> None:
    pytest.importorskip("distributed")
    from torture import _storm_workers, storms

    assert not _storm_workers.joined(storms.fit, storms.fit())


@pytest.mark.slow
def test_fits_that_are_cut() -> None:
    pytest.importorskip("distributed")
    from torture import _storm_cuts

    assert not _storm_cuts.run(1, 0)
