"""The server on its port: what it serves to whom, and what it does with clients that are not ours."""

from __future__ import annotations

import contextlib
import json
import logging
import socket

import pytest
from reading import PATIENCE, blobs, session_of
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from lowdim.explore.server import MOST_A_SECOND, Server

pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")


@pytest.fixture
def server():
    X, codes = blobs(60)
    with Server(session_of(X, codes, method="pca")) as running:
        yield running


def ask(server, path, *lines, method="GET"):
    """Status, headers and body of the answer to a request as it is written here."""
    with socket.create_connection(("127.0.0.1", server.guard.port), timeout=PATIENCE) as link:
        link.sendall("\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode())
        data = b""
        while piece := link.recv(1 << 16):
            data += piece
    head, _, body = data.decode().partition("\r\n\r\n")
    first, *rest = head.split("\r\n")
    return int(first.split()[1]), dict(line.split(": ", 1) for line in rest), body


def opened(server, **headers):
    guard = server.guard
    return connect(
        f"ws://{guard.host}{guard.socket}",
        origin=headers.pop("origin", guard.origin),
        additional_headers={"Cookie": f"{guard.cookie}={guard.pass_}"} | headers,
        open_timeout=PATIENCE,
        max_size=None,
        compression=None,
    )


def ended(page):
    """The code with which the server closes a connection."""
    try:
        while True:
            page.recv(PATIENCE)
    except ConnectionClosed as error:
        return error.rcvd and error.rcvd.code


def greeted(server):
    """Open a page until it is greeted: the one before may not have been missed yet."""
    while True:
        with opened(server) as page:
            try:
                while True:
                    said = page.recv(PATIENCE)
                    if isinstance(said, str) and json.loads(said)["kind"] == "hello":
                        return True
            except ConnectionClosed as error:
                if error.rcvd.code != 1013:
                    raise


def test_the_token_is_exchanged_for_a_cookie_and_leaves_the_address(server, caplog):
    caplog.set_level(logging.DEBUG)
    guard = server.guard
    host = f"Host: {guard.host}"
    path = server.address.removeprefix(guard.origin)
    status, headers, body = ask(server, path, host)
    assert (status, headers["Location"], body) == (303, guard.page, "")
    cookie = headers["Set-Cookie"]
    assert guard.token not in cookie
    assert {"HttpOnly", "SameSite=Lax", f"Path={guard.page}"} <= set(cookie.split("; "))
    status, headers, body = ask(server, guard.page, host, f"Cookie: {cookie.split(';')[0]}")
    assert status == 200
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert f"connect-src ws://{guard.host}" in policy
    assert "frame-ancestors 'none'" in policy
    assert guard.token not in body
    assert guard.pass_ not in body
    assert guard.token not in caplog.text
    assert guard.pass_ not in caplog.text


def test_without_the_pass_there_is_nothing(server):
    guard = server.guard
    host = f"Host: {guard.host}"
    upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")
    key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
    for path in ("/", guard.page, guard.socket, "/?token=wrong", "/../../etc/passwd", "/live.js"):
        assert ask(server, path, host)[0] == 403
        assert ask(server, path, host, *upgrade, key, f"Origin: {guard.origin}")[0] == 403
        assert ask(server, path, "Host: evil.example", f"Cookie: {guard.cookie}={guard.pass_}")[0] == 421
    assert ask(server, guard.page, host, f"Cookie: {guard.cookie}={guard.pass_}", "Origin: null")[0] == 403
    for origin in (None, "null", "http://evil.example", f"{guard.origin}.evil.example"):
        with pytest.raises(InvalidStatus) as caught:
            opened(server, origin=origin)
        assert caught.value.response.status_code == 403


def test_it_listens_on_the_loopback_alone(server):
    assert server._server.socket.getsockname()[0] == "127.0.0.1"


def test_a_page_is_greeted_and_a_second_is_sent_away(server):
    with opened(server) as first:
        assert first.recv(PATIENCE)
        with opened(server) as second:
            assert ended(second) == 1013
        first.send(json.dumps({"kind": "pause"}))
        while True:
            said = first.recv(PATIENCE)
            if isinstance(said, str) and json.loads(said)["kind"] == "paused":
                break


def test_a_page_that_comes_again_is_greeted_again(server):
    assert all(greeted(server) for _ in range(3))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("no json", 1008),
        (b"\x00\x01", 1008),
        (json.dumps({"kind": "run", "code": "import os"}), 1008),
        (json.dumps({"kind": "column", "name": "x" * (1 << 16)}), 1009),
    ],
)
def test_what_is_no_message_ends_the_connection_and_not_the_session(server, text, code):
    with opened(server) as page:
        page.send(text)
        assert ended(page) == code
    assert greeted(server)


def test_a_flood_is_stemmed(server):
    count = 0
    with opened(server) as page, contextlib.suppress(ConnectionClosed):
        while count < 400 * MOST_A_SECOND:
            page.send('{"kind": "distances", "row": 3}')
            count += 1
    assert MOST_A_SECOND <= count < 400 * MOST_A_SECOND
    assert greeted(server)


def test_the_port_is_closed_with_the_server():
    X, codes = blobs(60)
    server = Server(session_of(X, codes))
    with server, opened(server) as page:
        page.recv(PATIENCE)
    with pytest.raises(OSError, match=r"refused|reset"):
        socket.create_connection(("127.0.0.1", server.guard.port), timeout=PATIENCE)
    assert not server.session._thread.is_alive()
