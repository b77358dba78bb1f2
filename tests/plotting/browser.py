"""Headless Chromium over its own pipe (the DevTools protocol): no driver, no port and no library."""

from __future__ import annotations

import base64
import contextlib
import io
import itertools
import json
import os
import select
import shutil
import subprocess
import sys

import numpy as np

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--remote-debugging-pipe",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
# Chromium from 144 on draws WebGL without a graphics card only if it is asked to.
SOFTWARE = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")
PATIENCE = 300.0
FRAMES = 10_000
# The browser reads commands from its file 3 and writes answers to its file 4.
START = (
    "import os, sys; [os.dup2(int(end), number) for end, number in zip(sys.argv[1:3], (3, 4))]; "
    "os.execvp(sys.argv[3], sys.argv[3:])"
)


def find():
    """The browser's program, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Watched:
    """A page in which expressions can be ``run``: whoever waits for something draws frames until it is there."""

    def until(self, code):
        """Draw frames until an expression holds."""
        for _ in range(FRAMES):
            if self.run(code):
                return
            self.settle()
        raise TimeoutError(code)

    def settle(self):
        """Wait for two frames, so that what was asked for is drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")


class Browser(Watched):
    """One browser with one page."""

    def __init__(self, folder, options=SOFTWARE):
        import fcntl  # not on Windows, where no test gets this far

        ours, theirs = os.pipe(), os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (ours[0], theirs[1])]
        self.folder = folder
        profile = f"--user-data-dir={folder / 'profile'}"
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-S",
                "-c",
                START,
                *map(str, ends),
                find(),
                *OPTIONS,
                *options,
                profile,
                "about:blank",
            ],
            pass_fds=ends,
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        for end in (*ends, ours[0], theirs[1]):
            os.close(end)
        self.to, self.back = ours[1], theirs[0]
        self.numbers, self.buffer, self.session = itertools.count(1), b"", None
        self.problems, self.requests, self.downloads = [], [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        with contextlib.suppress(OSError):
            self.session = None
            self.call("Browser.close")
        self.process.wait(timeout=PATIENCE)
        os.close(self.to)
        os.close(self.back)

    def call(self, method, **parameters):
        """Send a command and wait for its answer; what happens meanwhile is noted."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = memoryview(json.dumps(message).encode() + b"\0")
        while data:
            data = data[os.write(self.to, data) :]
        while True:
            answer = self.receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def receive(self):
        """The next answer or event."""
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.back], [], [], PATIENCE)
            piece = os.read(self.back, 1 << 20) if ready else b""
            if not piece:
                raise OSError("the browser does not answer")
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(line)
        self.note(message.get("method"), message.get("params", {}))
        return message

    def note(self, method, data):
        if method == "Runtime.exceptionThrown":
            details = data["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and data["type"] in ("error", "warning", "assert"):
            self.problems.append(str(data["args"]))
        elif method == "Log.entryAdded" and data["entry"]["level"] in ("error", "warning"):
            self.problems.append(data["entry"]["text"])
        elif method == "Browser.downloadProgress" and data["state"] != "inProgress":
            self.downloads.append(data["state"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(data["request"]["url"])

    def size(self, width, height, ratio=1):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=ratio,
            mobile=False,
        )

    def go(self, address):
        self.call("Page.navigate", url=address)

    def open(self, path, width=1200, height=800, dark=False, ratio=1):
        """Show a file, and wait until its map is ready where it has one."""
        self.problems.clear()
        self.requests.clear()
        self.size(width, height, ratio)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.go(path.as_uri())
        self.until("document.readyState === 'complete' && !document.querySelector('[data-state=loading]')")
        self.settle()

    def run(self, code):
        """The value of an expression in the page, awaited where it is a promise."""
        found = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"]["description"])
        return found["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=float(x), y=float(y), **more)

    def move(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.settle()

    def drag(self, path, **more):
        """Press at the first place, go through the others, release at the last."""
        self.mouse("mousePressed", *path[0], button="left", clickCount=1, **more)
        for place in path[1:]:
            self.mouse("mouseMoved", *place, button="left", buttons=1, **more)
        self.mouse("mouseReleased", *path[-1], button="left", clickCount=1, **more)
        self.settle()

    def wheel(self, x, y, by):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=by)
        self.settle()

    def press(self, key, **more):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **more)
        self.settle()

    def picture(self, path=None):
        """The page's pixels (height x width x 3); kept as a file too where one is named."""
        from PIL import Image

        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path is not None:
            path.write_bytes(data)
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))

    def downloads_to(self, folder):
        session, self.session = self.session, None
        self.call(
            "Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder), eventsEnabled=True
        )
        self.session = session

    def finish_download(self):
        """Wait for the end of a download that the page has begun, and say how it ended."""
        while not self.downloads:
            self.receive()
        return self.downloads.pop()
