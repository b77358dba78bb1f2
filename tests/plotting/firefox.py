"""Headless Firefox by WebDriver BiDi, with the ways of `browser.Browser` that the tests share."""

from __future__ import annotations

import base64
import contextlib
import io
import itertools
import json
import os
import shutil
import subprocess
import threading
from collections import deque

import numpy as np
from browser import PATIENCE, Watched

NAMES = ("firefox", "firefox-esr")
PREFERENCES = {
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    # Drawn by the processor: machines that run tests have no graphics card.
    "webgl.force-enabled": True,
}
LISTENING = "WebDriver BiDi listening on "
# Keys of WebDriver (W3C WebDriver, section 17.4.2).
KEYS = {
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
    "Enter": "\ue007",
}


def find():
    """The browser's program, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Firefox(Watched):
    """One browser with one page."""

    def __init__(self, folder):
        from websockets.sync.client import connect

        profile = folder / "profile"
        profile.mkdir()
        lines = [
            f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()
        ]
        (profile / "user.js").write_text("\n".join(lines))
        words = [find(), "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", str(profile)]
        self.process = subprocess.Popen(
            words,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOME": str(folder)},
        )
        address = next((line for line in self.process.stderr if line.startswith(LISTENING)), None)
        if address is None:
            raise OSError("the browser ended before it listened")
        self.problems, self.requests, self.numbers = [], [], itertools.count(1)
        # What it says further is read, so that its pipe does not fill.
        threading.Thread(target=deque, args=(self.process.stderr, 0), daemon=True).start()
        self.opened = contextlib.ExitStack()
        link = connect(
            f"{address.removeprefix(LISTENING).strip()}/session", max_size=None, open_timeout=PATIENCE
        )
        self.socket = self.opened.enter_context(link)
        self.call("session.new", capabilities={})
        self.page = self.call("browsingContext.getTree")["contexts"][0]["context"]
        self.call("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])

    def close(self):
        with contextlib.suppress(OSError, RuntimeError):
            self.call("browser.close")
        self.opened.close()
        self.process.wait(timeout=PATIENCE)
        self.process.stderr.close()

    def call(self, method, **parameters):
        """Send a command and wait for its answer; what happens meanwhile is noted."""
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv(timeout=PATIENCE))
            if answer.get("id") == number:
                if answer["type"] == "error":
                    raise RuntimeError(f"{method}: {answer['message']}")
                return answer["result"]
            self.note(answer.get("method"), answer.get("params", {}))

    def note(self, method, data):
        if method == "log.entryAdded" and data["level"] in ("error", "warn"):
            self.problems.append(data["text"])
        elif method == "network.beforeRequestSent":
            self.requests.append(data["request"]["url"])

    def size(self, width, height):
        self.call(
            "browsingContext.setViewport", context=self.page, viewport={"width": width, "height": height}
        )

    def go(self, address):
        self.call("browsingContext.navigate", context=self.page, url=address, wait="complete")

    def open(self, path, width=1200, height=800):
        """Show a file, and wait until its map is ready where it has one."""
        self.problems.clear()
        self.requests.clear()
        self.size(width, height)
        self.go(path.as_uri())
        self.until("!document.querySelector('[data-state=loading]')")
        self.settle()

    def run(self, code):
        """The value of an expression in the page, awaited where it is a promise."""
        found = self.call(
            "script.evaluate",
            expression=f"Promise.resolve({code}).then((found) => JSON.stringify(found ?? null))",
            target={"context": self.page},
            awaitPromise=True,
        )
        if found["type"] == "exception":
            raise RuntimeError(found["exceptionDetails"]["text"])
        return json.loads(found["result"]["value"])

    def act(self, kind, actions, **more):
        source = {"type": kind, "id": kind, "actions": actions, **more}
        self.call("input.performActions", context=self.page, actions=[source])
        self.settle()

    def move(self, x, y):
        self.act("pointer", [{"type": "pointerMove", "x": round(x), "y": round(y)}])

    def drag(self, path):
        """Press at the first place, go through the others, release at the last."""
        moves = [{"type": "pointerMove", "x": round(x), "y": round(y)} for x, y in path]
        down, up = ({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))
        self.act("pointer", [moves[0], down, *moves[1:], up])

    def wheel(self, x, y, by):
        self.act(
            "wheel", [{"type": "scroll", "x": round(x), "y": round(y), "deltaX": 0, "deltaY": round(by)}]
        )

    def press(self, key, **_):
        value = KEYS.get(key, key)
        self.act("key", [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}])

    def picture(self, path=None):
        """The page's pixels (height x width x 3); kept as a file too where one is named."""
        from PIL import Image

        data = base64.b64decode(self.call("browsingContext.captureScreenshot", context=self.page)["data"])
        if path is not None:
            path.write_bytes(data)
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
