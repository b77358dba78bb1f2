"""A server and its page in the browser of the tests."""

from __future__ import annotations

import json

from lowdim.explore.server import Server

HOSTILE = (
    '</script><img src="https://example.org/x" onerror="window.broken = 1"><script>window.broken = 1</script>'
)
PAGE = "const page = document.getElementById('explorer')?.explorer; const map = page?.map;"


class Page:
    """A server and its page in the browser."""

    def __init__(self, browser, session, *, opens=True):
        self.browser, self.session, self.server = browser, session, Server(session).start()
        browser.problems.clear()
        browser.requests.clear()
        browser.size(1300, 850)
        if opens:
            self.go(self.server.address)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.go("about:blank")
        self.server.close()

    def go(self, address):
        self.browser.go(address)
        self.browser.until("document.querySelector('.lx')?.dataset.state === 'ready'")

    def run(self, code):
        return self.browser.run(f"(() => {{ {PAGE} return {code} }})()")

    def until(self, code):
        self.browser.until(f"(() => {{ {PAGE} return {code} }})()")

    def text(self, name):
        return self.run(f"page.$('{name}').textContent")

    def place(self, selector):
        """The middle of an element, brought into view."""
        found = json.dumps(selector)
        return self.browser.run(
            f"(() => {{ const at = document.querySelector({found}); at.scrollIntoView({{ block: 'center' }});"
            " const box = at.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2] })()"
        )

    def click(self, selector, **more):
        place = self.place(selector)
        self.browser.drag([place, place], **more)

    def slide(self, name, share):
        """Drag the handle of a slider to a share of its way."""
        self.place(f"#lx-{name}")
        left, top, width, height, now = self.browser.run(
            f"(() => {{ const at = document.getElementById('lx-{name}'); const box = at.getBoundingClientRect();"
            " return [box.x, box.y, box.width, box.height, at.value / at.max] })()"
        )
        across = [left + 8 + (width - 16) * each for each in (now, (now + share) / 2, share)]
        self.browser.drag([(x, top + height / 2) for x in across])

    def choose(self, selector, value):
        """Choose from a menu, as a person does by its keys."""
        self.browser.run(
            f"(() => {{ const at = document.querySelector({json.dumps(selector)}); at.focus();"
            f" at.value = {json.dumps(value)}; at.dispatchEvent(new Event('change', {{ bubbles: true }})) }})()"
        )

    def rest(self, count, **parameters):
        """Wait until so many states are in the film-strip and the last, with these parameters, is judged."""
        wanted = json.dumps(parameters)
        self.until(
            f"(() => {{ const last = [...page.strip.cards.values()].at(-1)?.state;"
            f" return page.strip.cards.size >= {count} && last.recall !== null &&"
            f" Object.entries({wanted}).every(([name, value]) => last.parameters[name] === value) }})()"
        )
