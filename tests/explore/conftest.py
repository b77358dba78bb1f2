from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "plotting"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Headless Chromium."""
    from browser import SOFTWARE, Browser, find

    if sys.platform == "win32":
        pytest.skip("the pipe to the browser is one of POSIX")
    if find() is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium, or brew install --cask chromium")
    try:
        started = Browser(tmp_path_factory.mktemp("browser"), SOFTWARE)
    except OSError as error:
        pytest.skip(f"Chromium does not start here: {error}")
    yield started
    started.close()
