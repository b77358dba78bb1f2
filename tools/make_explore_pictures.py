"""Make docs/images/explore*: a moving picture of a real session of the explorer, and its still ones.

python -m tools.make_explore_pictures
"""

from __future__ import annotations

import io
import sys
import time
from base64 import b64decode
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.explore.session import Session
from lowdim.explore.settings import Setting
from lowdim.explore.source import Source

ROOT = Path(__file__).parents[1]
PLACE = ROOT / "docs" / "images"
SIZE = (1120, 690)
SHOWN = 0.75
"""Pixels of the moving picture for each of the page."""
POINTER = """(() => {
  const pointer = document.createElement("div");
  const path = "M3 2v16l4.5-4 3 6 3-1.5-3-5.5 6-.5z";
  pointer.innerHTML = `<svg width="22" height="22"><path d="${path}" fill="#111" stroke="#fff"/></svg>`;
  Object.assign(pointer.style, { position: "fixed", zIndex: 99, pointerEvents: "none", left: "600px", top: "400px" });
  document.body.append(pointer);
  const follow = ({ clientX, clientY }) => {
    Object.assign(pointer.style, { left: `${clientX - 3}px`, top: `${clientY - 2}px` });
  };
  addEventListener("mousemove", follow, true);
})()"""


class Film:
    """Screenshots of a page while a hand is on it."""

    def __init__(self, page: Any) -> None:
        self.page, self.browser = page, page.browser
        self.frames: list[tuple[bytes, int]] = []
        self.at = (600.0, 400.0)

    def shoot(self, count: int = 1, milliseconds: int = 90) -> None:
        """So many pictures, one after the other; pictures that are the same last longer."""
        for _ in range(count):
            data = self.browser.call("Page.captureScreenshot", format="png")["data"]
            self.frames.append((b64decode(data), milliseconds))
            time.sleep(0.02)

    def go(self, x: float, y: float, steps: int = 5, **held: Any) -> None:
        """Move the pointer in so many steps, a picture at each."""
        (left, top), self.at = self.at, (x, y)
        for step in range(1, steps + 1):
            share = step / steps
            self.browser.mouse("mouseMoved", left + share * (x - left), top + share * (y - top), **held)
            self.shoot()

    def slide(self, name: str, share: float) -> None:
        """Drag the handle of a slider to a share of its way."""
        left, top, width, height, now = self.browser.run(
            f"(() => {{ const at = document.getElementById('lx-{name}'); const box = at.getBoundingClientRect();"
            " return [box.x, box.y, box.width, box.height, at.value / at.max] })()"
        )
        across = [left + 8 + (width - 16) * each for each in (now, share)]
        y = top + height / 2
        self.go(across[0], y)
        self.browser.mouse("mousePressed", across[0], y, button="left", clickCount=1)
        self.go(across[1], y, 9, button="left", buttons=1)
        self.browser.mouse("mouseReleased", across[1], y, button="left", clickCount=1)
        self.shoot(7)

    def choose(self, selector: str, value: str, pictures: int = 8) -> None:
        """Choose from a menu."""
        self.go(*self.page.place(selector))
        self.page.choose(selector, value)
        self.shoot(pictures)

    def save(self, path: Path) -> None:
        """All pictures as one that moves, with one table of colours."""
        from PIL import Image

        size = (round(SIZE[0] * SHOWN), round(SIZE[1] * SHOWN))
        images = [
            Image.open(io.BytesIO(data)).convert("RGB").resize(size, Image.Resampling.LANCZOS)
            for data, _ in self.frames
        ]
        palette = Image.fromarray(telling(images)).quantize(256)
        made = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
        made[0].save(
            path,
            save_all=True,
            append_images=made[1:],
            duration=[each for _, each in self.frames],
            loop=0,
            optimize=True,
        )


def telling(images: list[Any]) -> NDArray[np.uint8]:
    """A picture of pixels of all pictures, most of them coloured ones: there are few, and the table is for them."""
    pixels = np.concatenate([np.asarray(image).reshape(-1, 3)[::7] for image in images])
    is_coloured = np.ptp(pixels.astype(int), axis=1) > 40
    rng = np.random.default_rng(0)
    parts = [pixels[is_coloured], pixels[~is_coloured]]
    chosen = [rng.choice(part, count) for part, count in zip(parts, (48_000, 16_000), strict=True)]
    return np.concatenate(chosen).reshape(256, 250, 3)


def digits(method: str) -> Session:
    """A session of scikit-learn's digits."""
    from sklearn.datasets import load_digits

    found = load_digits()
    names = tuple(f"pixel {line},{column}" for line in range(8) for column in range(8))
    columns = {"digit": found.target.astype(str)}
    source = Source(found.data, columns, names, "digit", title="Handwritten digits")
    return Session(source, Setting.usual(method, source.n_rows))


def film(page: Any) -> None:
    """The moving picture."""
    made = Film(page)
    made.browser.run(POINTER)
    made.shoot(14)
    page.rest(1)
    made.shoot(1, 900)
    made.slide("perplexity", 0.24)
    page.rest(2)
    made.slide("lam", 0.8)
    page.rest(3)
    made.shoot(1, 900)
    made.choose(".lx-method", "laplacian-eigenmaps")
    page.rest(4)
    made.slide("n_neighbors", 0.75)
    page.rest(5)
    made.choose(".lx-method", "umap")
    page.rest(6)
    made.slide("min_dist", 0.8)
    page.rest(7)
    made.go(*page.place(".lx-faithful"))
    page.click(".lx-faithful")
    made.shoot(1, 2200)
    made.save(PLACE / "explore.gif")


def stills(page: Any) -> None:
    """Two states beside each other by faithfulness; trust; a selection on the page in the dark."""
    browser = page.browser
    page.run("void page.controls.change('perplexity', 8)")
    page.rest(2, perplexity=8)
    page.run("void (page.sides.ask('faithfulness'), page.panes.beside(page.strip.cards.get(1).state))")
    time.sleep(1.0)
    browser.picture(PLACE / "explore-beside.png")
    page.run("void (page.panes.close(), page.settle())")
    page.rest(3)
    page.choose(".lx-trust", "verdict")
    page.until("map.panel.column.name === 'trust: verdict'")
    page.run("void page.$('trusted').scrollIntoView({ block: 'end' })")
    browser.settle()
    browser.picture(PLACE / "explore-trust.png")
    page.run("void (page.$('trust').value = '', map.colourBy('digit'))")
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    page.run(
        "void map.selectRows([...map.panel.column.values.keys()].filter((row) => map.panel.column.values[row] === 4))"
    )
    page.until("!page.$('selection').hidden")
    page.run("void page.$('contrasts').scrollIntoView({ block: 'end' })")
    browser.settle()
    browser.picture(PLACE / "explore-dark.png")


def main() -> None:
    """All of them."""
    sys.path[:0] = [str(ROOT / "tests" / "explore"), str(ROOT / "tests" / "plotting")]
    from browser import Browser
    from live import Page

    with TemporaryDirectory() as folder:
        browser = Browser(Path(folder))
        light = [{"name": "prefers-color-scheme", "value": "light"}]
        browser.call("Emulation.setEmulatedMedia", features=light)
        with Page(browser, digits("tsne")) as page:
            browser.size(*SIZE)
            film(page)
        with Page(browser, digits("tsne")) as page:
            browser.size(1400, 860)
            page.rest(1)
            stills(page)
        browser.close()


if __name__ == "__main__":
    main()
