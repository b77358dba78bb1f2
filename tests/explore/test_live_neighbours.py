"""Explorers and other servers of one machine in one browser: who is given what."""

from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from live import Page
from reading import blobs, session_of

from lowdim.explore.opening import REDIRECT

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")]


@pytest.fixture
def foreign():
    """Another server of this machine that writes down what cookies it is given."""
    given = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            given.append((self.path, self.headers.get("Cookie")))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>foreign</title>")

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_port, given
    server.shutdown()
    thread.join()
    server.server_close()


def test_another_server_is_given_no_cookie_and_a_second_explorer_takes_none_away(browser, foreign):
    X, codes = blobs()
    port, given = foreign
    with Page(browser, session_of(X, codes, method="pca")) as first:
        first.rest(1)
        browser.go(f"http://127.0.0.1:{port}/")
        browser.until("document.title === 'foreign'")
        assert ("/", None) in given
        assert all(cookie is None for _, cookie in given)
        with Page(browser, session_of(X, codes, method="isomap")) as second:
            second.rest(1)
            first.go(f"{first.server.guard.origin}{first.server.guard.page}")
            first.rest(1)
            assert first.run("page.controls.method") == "pca"
            second.go(f"{second.server.guard.origin}{second.server.guard.page}")
            assert second.run("page.controls.method") == "isomap"


def test_the_file_through_which_a_browser_is_sent_leads_to_the_page(browser, tmp_path):
    X, codes = blobs()
    with Page(browser, session_of(X, codes, method="pca"), opens=False) as page:
        path = tmp_path / "lowdim-way.html"
        path.write_text(REDIRECT.format(page.server.address), encoding="utf-8")
        browser.go(path.as_uri())
        # Until the page is there, the browser may leave what it is asked without an answer.
        for _ in range(1000):
            with contextlib.suppress(RuntimeError):
                if browser.run("location.pathname") == page.server.guard.page:
                    break
        browser.until("document.querySelector('.lx')?.dataset.state === 'ready'")
        page.rest(1)
        assert browser.run("document.referrer") == ""
