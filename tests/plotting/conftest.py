from __future__ import annotations

import sys

import pytest
from browser import SOFTWARE, Browser, find


def _started(tmp_path_factory, options):
    if sys.platform == "win32":
        pytest.skip("the pipe to the browser is one of POSIX")
    if find() is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium, or brew install --cask chromium")
    try:
        return Browser(tmp_path_factory.mktemp("browser"), options)
    except OSError as error:
        pytest.skip(f"Chromium does not start here: {error}")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Headless Chromium that draws WebGL."""
    started = _started(tmp_path_factory, SOFTWARE)
    yield started
    started.close()


@pytest.fixture(scope="module")
def plain_browser(tmp_path_factory):
    """Headless Chromium without WebGL."""
    started = _started(tmp_path_factory, ("--disable-gpu", "--disable-3d-apis"))
    yield started
    started.close()
