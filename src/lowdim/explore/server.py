"""The server: one page and one socket on a port of this machine, for one browser."""

from __future__ import annotations

import logging
import time
from http import HTTPStatus
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self

from .document import page
from .guard import HOST, Guard
from .protocol import LARGEST_MESSAGE, ProtocolError, parse
from .session import Session

BUSY, BROKEN, TOO_SLOW = 1013, 1008, 1013
"""Codes with which a socket is closed."""
MOST_A_SECOND = 1_000
"""Messages that a page may send in a second."""
ALWAYS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Connection": "close",
}
SAID = {
    HTTPStatus.FORBIDDEN: "Open the address that lowdim explore has printed, with its token.\n",
    HTTPStatus.MISDIRECTED_REQUEST: "This server answers to its own address alone.\n",
    HTTPStatus.NOT_FOUND: "There is no such page.\n",
    HTTPStatus.METHOD_NOT_ALLOWED: "Only GET is known.\n",
}


class Server:
    """Serves a session until it is closed. It listens from the moment that it is made, on the loopback alone.

    Parameters
    ----------
    session
        What is explored; it is started by `start`.
    """

    def __init__(self, session: Session) -> None:
        from websockets.sync.server import serve

        self.session = session
        self._lock, self._is_taken = Lock(), False
        # The library writes requests to its log, and the first one has the token.
        silent = logging.getLogger("lowdim.explore.server")
        silent.disabled = True
        self._server = serve(
            self._talk,
            HOST,
            0,
            process_request=self._respond,
            max_size=LARGEST_MESSAGE,
            max_queue=16,
            compression=None,
            open_timeout=10,
            close_timeout=2,
            ping_interval=None,
            server_header=None,
            logger=silent,
        )
        self.guard = Guard(self._server.socket.getsockname()[1])
        self._thread = Thread(target=self._server.serve_forever, name="lowdim explorer's port", daemon=True)

    @property
    def address(self) -> str:
        """What to open in a browser; it has the token."""
        return self.guard.address

    def start(self) -> Self:
        """Begin to compute and to answer."""
        self.session.start()
        self._thread.start()
        return self

    def close(self) -> None:
        """Close the port, then end the work."""
        self.session.outbox.close()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        else:
            self._server.socket.close()
        self.session.close()

    def wait(self) -> None:
        """Return when the port is closed."""
        while self._thread.is_alive():
            self._thread.join(0.2)  # so that Ctrl-C is heard on every system

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- requests -------------------------------------------------------------------------------------------------

    def _respond(self, connection: Any, request: Any) -> Any:
        """The answer to a request; None lets a socket open."""
        status = self.guard.judge(request.path, request.headers, method=getattr(request, "method", "GET"))
        if status == HTTPStatus.SWITCHING_PROTOCOLS:
            return None
        if status == HTTPStatus.SEE_OTHER:
            place = self.guard.page
            # Lax, since a strict one is held back from a page that a file or a mail has sent the browser to. What it
            # does not hold back are visits to the page itself: sockets of other origins never get it, and are refused.
            value = f"{self.guard.cookie}={self.guard.pass_}; Path={place}; HttpOnly; SameSite=Lax"
            return _response(status, "", {"Location": place, "Set-Cookie": value})
        if status == HTTPStatus.OK:
            made = page(self.guard.host)
            headers = {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": made.policy}
            return _response(status, made.html, headers)
        return _response(status, SAID[status], {"Content-Type": "text/plain; charset=utf-8"})

    # -- the socket -----------------------------------------------------------------------------------------------

    def _talk(self, connection: Any) -> None:
        with self._lock:
            is_second, self._is_taken = self._is_taken, True
        if is_second:
            connection.close(BUSY, "Another page has this session open.")
            return
        session = self.session
        session.greet()
        sender = Thread(target=self._send, args=(connection,), daemon=True)
        sender.start()
        try:
            self._listen(connection)
        finally:
            session.outbox.close()
            connection.close()
            sender.join()
            with self._lock:
                self._is_taken = False

    def _send(self, connection: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            while (message := self.session.outbox.next()) is not None:
                connection.send(message)
            connection.close(TOO_SLOW, "The page is too slow.")
        except (ConnectionClosed, OSError):
            pass  # the page has gone, which the listener hears too

    def _listen(self, connection: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        began, count = time.monotonic(), 0
        try:
            for text in connection:
                now = time.monotonic()
                began, count = (now, 0) if now - began > 1.0 else (began, count + 1)
                if count > MOST_A_SECOND:
                    connection.close(BROKEN, "Too many messages.")
                    return
                self.session.receive(parse(text))
        except ProtocolError as error:
            connection.close(BROKEN, str(error)[:120])
        except (ConnectionClosed, OSError):
            return


def _response(status: HTTPStatus, text: str, more: dict[str, str]) -> Any:
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    body = text.encode("utf-8", errors="backslashreplace")
    headers = Headers({**ALWAYS, **more, "Content-Length": str(len(body))})
    return Response(status.value, status.phrase, headers, body)
