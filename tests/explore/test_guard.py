"""Who may come in: every route, with every wrong token, Host and Origin."""

from __future__ import annotations

import pytest

from lowdim.explore.guard import ENTRY, Guard


class Headers:
    def __init__(self, *pairs):
        self.pairs = pairs

    def get_all(self, name):
        return [value for key, value in self.pairs if key.lower() == name.lower()]


GUARD = Guard(41234)
HOST = ("Host", GUARD.host)
PASS = ("Cookie", f"{GUARD.cookie}={GUARD.pass_}")
ORIGIN = ("Origin", GUARD.origin)
ROUTES = (GUARD.page, GUARD.socket)
ODD_PATHS = [
    "/",
    "/socket",
    f"/{GUARD.room}",
    f"/{GUARD.room}/index.html",
    f"{GUARD.socket}/",
    f"/{GUARD.room}/../socket",
    "/index.html",
    "/../etc/passwd",
    "/socket/",
    "//",
    "/%2e%2e/",
    "/static/live.js",
    "/favicon.ico",
    "",
]


def named(path):
    """The same name in every process: the room is another in each."""
    return path.replace(GUARD.room, "room")


def test_the_page_and_the_socket_open_with_the_pass():
    assert GUARD.judge(GUARD.page, Headers(HOST, PASS)) == 200
    assert GUARD.judge(GUARD.socket, Headers(HOST, PASS, ORIGIN)) == 101
    assert GUARD.judge(f"/?token={GUARD.token}", Headers(HOST)) == 303


@pytest.mark.parametrize("path", [*ROUTES, *ODD_PATHS], ids=named)
def test_no_route_opens_without_token(path):
    assert GUARD.judge(path, Headers(HOST, ORIGIN)) == 403
    wrong = [GUARD.pass_[:-1], GUARD.pass_ + "x", GUARD.token, "", "é"]
    for value in wrong:
        assert GUARD.judge(path, Headers(HOST, ORIGIN, ("Cookie", f"{GUARD.cookie}={value}"))) == 403
    assert GUARD.judge(path, Headers(HOST, ORIGIN, PASS, PASS)) == 403
    for token in ("", "x", GUARD.pass_, GUARD.token[:-1], GUARD.token + "a", f"{GUARD.token}&token=x"):
        assert GUARD.judge(f"{path}?token={token}", Headers(HOST, ORIGIN)) == 403


@pytest.mark.parametrize("path", ODD_PATHS, ids=named)
def test_there_is_nothing_but_the_routes(path):
    assert GUARD.judge(path, Headers(HOST, PASS)) == 404
    if path != ENTRY:
        assert GUARD.judge(f"{path}?token={GUARD.token}", Headers(HOST)) == 403


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "localhost:41234",
        "127.0.0.1",
        "127.0.0.1:41235",
        "evil.example:41234",
        "127.0.0.1:41234.evil.example",
    ],
)
def test_another_host_is_turned_away(host):
    headers = [PASS, ORIGIN] if host is None else [PASS, ORIGIN, ("Host", host)]
    for path in (*ROUTES, f"/?token={GUARD.token}"):
        assert GUARD.judge(path, Headers(*headers)) == 421
    assert GUARD.judge(GUARD.page, Headers(HOST, HOST, PASS)) == 421


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.example",
        "https://127.0.0.1:41234",
        "http://127.0.0.1:41234.evil.example",
        "http://127.0.0.1:4123",
        "http://localhost:41234",
        "http://127.0.0.1:41234/",
    ],
)
def test_another_origin_is_turned_away(origin):
    for path in (*ROUTES, f"/?token={GUARD.token}"):
        assert GUARD.judge(path, Headers(HOST, PASS, ("Origin", origin))) == 403
    assert GUARD.judge(GUARD.socket, Headers(HOST, PASS, ORIGIN, ("Origin", origin))) == 403


def test_the_socket_needs_an_origin():
    assert GUARD.judge(GUARD.socket, Headers(HOST, PASS)) == 403


def test_only_get_is_known():
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD", "CONNECT"):
        assert GUARD.judge(GUARD.page, Headers(HOST, PASS), method=method) == 405


def test_secrets_are_long_and_differ_and_do_not_show():
    one, other = Guard(1), Guard(1)
    assert len({one.token, one.pass_, one.room, other.token, other.pass_, other.room}) == 6
    assert one.cookie != other.cookie
    assert min(len(one.token), len(one.pass_)) >= 43  # 256 bits in base64
    assert one.token not in repr(one)
    assert one.pass_ not in repr(one)
