"""Who may come in: the token, the exact Host and Origin, and the routes that there are."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Protocol
from urllib.parse import parse_qs, urlsplit

ENTRY = "/"
"""Where the token is brought."""
HOST = "127.0.0.1"


class Heard(Protocol):
    """The headers of a request."""

    def get_all(self, name: str) -> Sequence[str]:
        """All values that a header has."""
        ...


def _secret() -> str:
    """256 bits."""
    return secrets.token_urlsafe(32)


def _name() -> str:
    """128 bits."""
    return secrets.token_urlsafe(16)


@dataclass(frozen=True, slots=True)
class Guard:
    """The secrets of one server on one port.

    The ``token`` is in the address that is printed. Whoever brings it gets the ``pass_`` as a cookie and is sent to the
    page without it, so that the token stays in no address bar. A browser gives cookies to every port of a machine, but
    only below the path that they are for: page and socket are in a ``room`` whose name no other server knows.
    """

    port: int
    token: str = field(default_factory=_secret, repr=False)
    pass_: str = field(default_factory=_secret, repr=False)
    room: str = field(default_factory=_name, repr=False)

    @property
    def host(self) -> str:
        """The only Host."""
        return f"{HOST}:{self.port}"

    @property
    def origin(self) -> str:
        """The only Origin."""
        return f"http://{self.host}"

    @property
    def address(self) -> str:
        """What is opened in a browser."""
        return f"{self.origin}/?token={self.token}"

    @property
    def page(self) -> str:
        """Where the page is."""
        return f"/{self.room}/"

    @property
    def socket(self) -> str:
        """Where its socket is. Beside these two there is nothing."""
        return f"/{self.room}/socket"

    @property
    def cookie(self) -> str:
        """The name of the cookie: no other server can set one of this name."""
        return f"lowdim_{self.room}"

    def judge(self, path: str, headers: Heard, *, method: str = "GET") -> HTTPStatus:
        """OK: the page; SWITCHING_PROTOCOLS: the socket; SEE_OTHER: the token was right; else why not."""
        if list(headers.get_all("Host")) != [self.host]:
            return HTTPStatus.MISDIRECTED_REQUEST
        origins = list(headers.get_all("Origin"))
        if origins and origins != [self.origin]:
            return HTTPStatus.FORBIDDEN
        if method != "GET":
            return HTTPStatus.METHOD_NOT_ALLOWED
        parts = urlsplit(path)
        if parts.path == ENTRY and parts.query and self._has_token(parts.query):
            return HTTPStatus.SEE_OTHER
        if not self._has_pass(headers):
            return HTTPStatus.FORBIDDEN
        if parts.query or parts.path not in (self.page, self.socket):
            return HTTPStatus.NOT_FOUND
        if parts.path == self.page:
            return HTTPStatus.OK
        # A page of ours always says its origin: who says none is no page.
        return HTTPStatus.SWITCHING_PROTOCOLS if origins else HTTPStatus.FORBIDDEN

    def _has_token(self, query: str) -> bool:
        given = parse_qs(query).get("token", [])
        return len(given) == 1 and _same(given[0], self.token)

    def _has_pass(self, headers: Heard) -> bool:
        found = [
            value.strip()
            for line in headers.get_all("Cookie")
            for name, _, value in (part.strip().partition("=") for part in line.split(";"))
            if name == self.cookie
        ]
        return len(found) == 1 and _same(found[0], self.pass_)


def _same(given: str, wanted: str) -> bool:
    """Compared in a time that says nothing of where they differ."""
    return hmac.compare_digest(given.encode(errors="replace"), wanted.encode())
