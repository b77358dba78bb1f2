"""The explorer in a cell: the same messages, through a notebook that stands beside it."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import sys
from threading import Condition

import numpy as np
import pytest
from reading import PATIENCE, blobs

import lowdim
from lowdim.explore.widget import script

pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")


class Cell:
    """The side of a notebook that shows a widget: it keeps what is sent, and acknowledges frames."""

    def __init__(self, widget):
        self.widget, self.texts, self.frames = widget, [], []
        self.changed = Condition()
        widget.send = self.take
        self.say({"open": True})

    def say(self, content):
        self.widget._handle_custom_msg(content, [])

    def send(self, kind, **content):
        self.say({"text": json.dumps({"kind": kind} | content)})

    def take(self, content, buffers=None):
        with self.changed:
            if "text" in content:
                self.texts.append(json.loads(content["text"]))
            for buffer in buffers or ():
                self.frames.append(buffer)
                if buffer[0] == 1:
                    self.send("ack", sequence=int.from_bytes(buffer[8:12], "little"))
            self.changed.notify_all()

    def until(self, kind):
        def found():
            return next((text for text in self.texts if text["kind"] == kind), None)

        with self.changed:
            assert self.changed.wait_for(found, PATIENCE)
            return found()


@pytest.fixture
def widget():
    X, codes = blobs(90)
    made = lowdim.explore.Widget(X, codes, method="pca")
    yield made
    made.close()


def test_a_cell_is_greeted_shown_frames_and_tells_what_is_selected(widget):
    cell = Cell(widget)
    assert cell.until("hello")["rows"] == 90
    cell.until("scores")
    # The first picture may have come to rest before the cell was there; the other way round it is a frame for certain.
    cell.send("axes", x=1, y=0, z=None)
    with cell.changed:
        assert cell.changed.wait_for(lambda: any(frame[0] == 1 for frame in cell.frames), PATIENCE)
    assert widget.embedding.shape == (90, 2)
    mask = np.zeros(90, bool)
    mask[[3, 8, 40]] = True
    packed = np.packbits(mask, bitorder="little").tobytes()
    cell.send("selection", mask=base64.b64encode(packed).decode())
    cell.until("contrasts")
    np.testing.assert_array_equal(widget.selection, [3, 8, 40])
    cell.say({"text": "no message"})
    cell.say("nor this")
    with cell.changed:
        cell.texts.clear()
    cell.send("settle", generation=1)
    cell.until("done")
    np.testing.assert_array_equal(widget.model.embedding_, widget.embedding)


def test_a_second_cell_of_the_same_widget_takes_over(widget):
    Cell(widget).until("hello")
    assert Cell(widget).until("hello")["rows"] == 90


def test_a_notebook_grows_by_less_than_100_kilobytes(widget):
    Cell(widget).until("scores")
    state = widget.get_state()
    saved = json.dumps({name: value for name, value in state.items() if isinstance(value, str)})
    data, _ = widget._repr_mimebundle_()
    from PIL import Image

    picture = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert picture.size[0] >= 300
    assert len(saved) + sum(len(str(value)) for value in data.values()) < 100_000
    assert "openExplorer" in script()


def test_a_model_opens_in_a_cell():
    X, codes = blobs(90)
    model = lowdim.Isomap(n_neighbors=30).fit(X)
    made = lowdim.explore.Widget(model, codes)
    try:
        # It may have come to rest before the cell was there: its scores are told in any case.
        Cell(made).until("scores")
        np.testing.assert_array_equal(made.embedding, model.embedding_)
    finally:
        made.close()


def test_the_page_and_the_cell_need_no_matplotlib():
    """The extras of the explorer do not bring it."""
    code = (
        "import sys; sys.modules['matplotlib'] = None; import numpy as np, lowdim; "
        "from lowdim.explore.document import page; page('127.0.0.1:1'); "
        "from lowdim.explore.settings import Setting; from lowdim.explore.source import source_of; "
        "from lowdim.explore.session import Session; X = np.random.default_rng(0).normal(size=(50, 4)); "
        "session = Session(source_of(X, X[:, 0]), Setting.usual('pca', 50)); print(session.source.n_rows); "
        "print(len(lowdim.explore.Widget(X, X[:, 0], method='pca').selection))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.stdout.split() == ["50", "0"], done.stderr
