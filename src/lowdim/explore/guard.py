"""Who may come in: the token, the exact Host and Origin, and the routes that there are."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Protocol
from urllib.parse import parse_qs, urlsplit

PAGE, SOCKET = "/", "/socket"
ROUTES = (PAGE, SOCKET)
"""All that there is."""
HOST = "127.0.0.1"


class Heard(Protocol):
    """The headers of a request."""

    def get_all(self, name: str) -> Sequence[str]:
        """All values that a header has."""
        ...


def _secret() -> str:
    """256 bits."""
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, slots=True)
class Guard:
    """The secrets of one server on one port.

    The ``token`` is in the address that is printed. Whoever brings it gets the ``pass_`` as a cookie and is sent to the
    page without it, so that the token stays in no address bar.
    """

    port: int
    token: str = field(default_factory=_secret, repr=False)
    pass_: str = field(default_factory=_secret, repr=False)

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
    def cookie(self) -> str:
        """The name of the cookie: other servers on this machine have theirs on other ports, and get this one too."""
        return f"lowdim_{self.port}"

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
        if parts.path == PAGE and parts.query and self._has_token(parts.query):
            return HTTPStatus.SEE_OTHER
        if not self._has_pass(headers):
            return HTTPStatus.FORBIDDEN
        if parts.query or parts.path not in ROUTES:
            return HTTPStatus.NOT_FOUND
        if parts.path == PAGE:
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
