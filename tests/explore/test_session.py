"""What a session does with wishes, without a browser."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from reading import Reader, blobs, session_of

import lowdim
from lowdim.explore.answers import lines_of
from lowdim.explore.opening import model_session
from lowdim.explore.protocol import COLUMN, CREDIT, ProtocolError, parse
from lowdim.explore.source import Source, source_of
from lowdim.metrics.neighbor_recall import neighbor_recall

pytestmark = pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")


def last_settled(session):
    return next(state for state in reversed(session.strip.states) if state.settled)


def test_a_picture_appears_moves_is_judged_and_settles_to_the_bits_of_a_fit():
    X, codes = blobs()
    session = session_of(X, codes)
    with Reader(session) as reader:
        reader.set("tsne", perplexity=8, max_iter=40)
        hello = reader.until("hello")
        assert hello["rows"] == 120
        first = reader.until("done", generation=1)
        assert not first["settled"]
        reader.until("scores")
        reader.messages.clear()
        reader.set("tsne", perplexity=8, max_iter=40, lam=0.5)
        reader.until("done", generation=2)
        assert reader.frames[-1]["generation"] == 2
        assert "at rest" in session.badge
        assert not reader.heard("stage")  # neither neighbours nor affinities are found again
        scores = reader.until("scores")
        shown = session.strip.states[-1].coordinates
        assert scores["recall"] == pytest.approx(neighbor_recall(X, shown, 15).mean(), abs=1e-12)
        reader.settle()
        assert reader.until("done", generation=3)["settled"]
        state = last_settled(session)
        expected = lowdim.TSNE(perplexity=8, max_iter=40, lam=0.5).fit(X).embedding_
        np.testing.assert_array_equal(state.coordinates, expected)
        names = {"lowdim": lowdim, "X": X}
        exec(lines_of(state, session.source)["python"].replace("X = ...", ""), names)
        np.testing.assert_array_equal(names["embedding"], expected)
        scores = reader.until("scores", state=state.number)
        assert scores["recall"] == pytest.approx(neighbor_recall(X, expected, 15).mean(), abs=1e-12)


def test_a_newer_generation_cancels_and_the_last_of_many_wins():
    X, codes = blobs(300)
    with Reader(session_of(X, codes)) as reader:
        reader.until("badge")
        for perplexity in range(4, 14):
            last = reader.set("tsne", perplexity=perplexity)
        reader.until("done", generation=last)
        assert [m["generation"] for m in reader.heard("done")] == [last]
        order = [frame["generation"] for frame in reader.frames]
        assert order == sorted(order)
        # What is older than the last wish is not taken up.
        reader.send("set", generation=3, method="pca", parameters={})
        reader.settle()
        reader.until("done", settled=True)
        assert reader.session.setting.method == "tsne"


def test_a_pause_stands_still_and_still_answers():
    X, codes = blobs(200)
    with Reader(session_of(X, codes)) as reader:
        while not reader.frames or not reader.frames[-1]["iteration"]:
            reader.step()
        reader.send("pause")
        reader.until("paused")
        reader.send("column", name="feature 2")
        header = reader.until("column")["header"]
        assert header["name"] == "feature 2"
        while not reader.blocks or reader.blocks[-1]["kind"] != 3:
            reader.step()
        np.testing.assert_allclose(np.frombuffer(reader.blocks[-1]["body"], "<f4"), X[:, 2], rtol=1e-6)
        iteration = reader.session.iteration
        reader.send("distances", row=7)
        reader.until("column", row=7)
        assert reader.session.iteration == iteration
        assert not reader.heard("done")
        reader.send("resume")
        reader.until("done")


def test_distances_are_those_of_the_data():
    X, codes = blobs(60)
    with Reader(session_of(X, codes, method="pca")) as reader:
        reader.until("scores")
        reader.send("distances", row=5)
        reader.until("column", row=5)
        body = reader.step()["body"]
        np.testing.assert_allclose(
            np.frombuffer(body, "<f4"), np.linalg.norm(X - X[5], axis=1), rtol=1e-5, atol=1e-5
        )
        reader.send("neighbours", row=5)
        nearest = reader.until("neighbours")["rows"]
        assert set(nearest) == set(np.argsort(np.linalg.norm(X - X[5], axis=1))[1:16])
        reader.send("distances", row=60)
        assert "row" in reader.until("refused")["message"]


def test_spectral_pictures_are_turned_onto_those_before():
    X, codes = blobs(150)
    with Reader(session_of(X, codes, method="laplacian-eigenmaps")) as reader:
        reader.until("done")
        before = reader.session.shown.copy()
        reader.set("laplacian-eigenmaps", n_neighbors=11)
        reader.until("done", generation=1)
        now = reader.session.shown
        assert lowdim.procrustes(now, before).error == pytest.approx(
            np.linalg.norm(now - before) / np.linalg.norm(before - before.mean(axis=0)), abs=1e-9
        )


def test_a_failing_fit_is_told_and_the_session_goes_on():
    X, codes = blobs()
    with Reader(session_of(X, codes, method="pca")) as reader:
        reader.until("done")
        reader.set("tsne", perplexity=100, n_neighbors=5)
        assert "perplexity" in reader.until("failed", generation=1)["message"]
        reader.set("tsne", lam=3.0)
        assert "lam" in reader.until("failed", generation=2)["message"]
        reader.set("nothing")
        assert "method" in reader.until("failed", generation=3)["message"]
        reader.set("pca", whiten=True)
        reader.until("done", generation=3 + 1)


def test_a_page_that_comes_late_is_told_what_failed():
    session = session_of(np.ones((50, 2)))
    with Reader(session) as reader:
        reader.until("failed", generation=0)
        session.greet()
        reader.until("hello")
        assert "rows are equal" in reader.until("failed", generation=0)["message"]
        reader.set("nothing")
        reader.until("failed", generation=1)
    X, codes = blobs()
    session = session_of(X, codes, method="pca")
    with Reader(session) as reader:
        reader.until("done")
        reader.set("tsne", perplexity=100, n_neighbors=5)
        reader.until("failed", generation=1)
        reader.set("pca", whiten=True)
        reader.until("done", generation=2)
        before = len(reader.heard("failed"))
        session.greet()
        reader.until("state", state=2)
        reader.until("badge")
        reader.send("pause")
        reader.until("paused")
        assert len(reader.heard("failed")) == before


def test_a_slow_reader_gets_fewer_frames_and_never_old_ones():
    X, codes = blobs()
    session = session_of(X, codes)
    reader = Reader(session, acknowledges=False)
    with reader:
        reader.until("done")
        assert len(reader.frames) == CREDIT
        assert session.outbox.dropped > 10
        reader.send("ack", sequence=reader.frames[-1]["sequence"])
        while len(reader.frames) == CREDIT:
            reader.step()
        assert reader.frames[-1]["iteration"] == session.iteration


def test_states_are_kept_restored_and_compared():
    X, codes = blobs()
    with Reader(session_of(X, codes, method="pca")) as reader:
        reader.until("done")
        reader.set("pca", whiten=True)
        reader.until("done", generation=1)
        one, other = reader.session.strip.states
        reader.send("restore", state=one.number, pane=1)
        while not reader.frames or reader.frames[-1]["pane"] != 1:
            reader.step()
        assert reader.session.setting == other.setting
        reader.send("restore", state=one.number, pane=0)
        assert reader.until("restored")["setting"] == {"method": "pca", "parameters": {}}
        assert reader.session.setting == one.setting
        reader.send("restore", state=99, pane=0)
        reader.until("refused")


def test_what_tells_a_selection_apart():
    X, codes = blobs()
    X[codes == 1, 3] += 50
    session = session_of(X, codes, method="pca")
    heard = []
    session.on_selection = heard.append
    with Reader(session) as reader:
        reader.until("done")
        mask = np.packbits(codes == 1, bitorder="little")
        reader.send("selection", mask=base64.b64encode(mask.tobytes()).decode())
        found = reader.until("contrasts")
        assert found["count"] == 40
        assert found["features"][0]["feature"] == "feature 3"
        assert found["features"][0]["effect"] > 3
        np.testing.assert_array_equal(heard[0], codes == 1)
        reader.send("selection", mask="no base64")
        reader.until("refused")
        reader.send("selection", mask="AAAA")
        reader.until("refused")


def test_only_what_is_settled_is_exported(tmp_path):
    X, codes = blobs()
    with Reader(session_of(X, codes, method="pca")) as reader:
        reader.until("done")
        reader.send("export", what="csv")
        assert "ettle" in reader.until("refused")["message"]
        reader.settle()
        reader.until("done", settled=True)
        reader.send("export", what="csv")
        assert reader.until("file")["name"] == "pca.csv"
        path = tmp_path / "made.csv"
        path.write_bytes(reader.step()["body"])
        table = lowdim.data.files.read(str(path), label="label")
        np.testing.assert_allclose(table.X, last_settled(reader.session).coordinates)
        np.testing.assert_array_equal(table.labels, codes)
        reader.send("export", what="python")
        assert "lowdim.PCA().fit(X)" in reader.until("lines")["text"]
        for what in ("shell", "h5ad", "../../etc/passwd"):
            reader.send("export", what=what)
            reader.until("refused")


def test_trust_of_what_is_shown_is_that_of_the_library():
    X, codes = blobs()
    reader = Reader(session_of(X, codes, method="pca"))
    reader.send("trust")  # before anything has come to rest
    with reader:
        reader.until("refused", request="trust")
        reader.settle()
        reader.until("scores", state=reader.until("done", settled=True)["state"])
        reader.send("trust")
        said = reader.until("trusted")
        model = lowdim.PCA().fit(X)
        wanted = lowdim.trust(X, model.embedding_, model)
        assert said["names"] == wanted.column_names
        assert wanted.summary() in said["said"]
        headers = [
            each["header"] for each in reader.heard("column") if each["header"]["name"].startswith("trust: ")
        ]
        assert [header["name"] for header in headers] == [f"trust: {name}" for name in wanted.column_names]
        bodies = [block["body"] for block in reader.blocks if block["kind"] == COLUMN][-len(headers) :]
        for header, body, name in zip(headers, bodies, wanted.column_names, strict=True):
            values = np.frombuffer(body, f"<{header['type']}")
            if name == "verdict":
                np.testing.assert_array_equal(np.array(header["names"])[values], wanted.verdict)
            else:
                np.testing.assert_allclose(values, wanted[name], rtol=1e-6)
        # A newer picture came to rest while one was measured: what was found of the old one is not told.
        reader.session.ask("trusted", {"state": 10**6, "found": wanted})
        assert reader.until("trusted")["state"] == said["state"]
    with pytest.raises(ProtocolError):
        parse('{"kind": "trusted"}')


def test_of_three_coordinates_all_are_shown():
    X, codes = blobs()
    with Reader(session_of(X, codes, method="pca")) as reader:
        reader.set("pca", n_components=3)
        state = reader.until("done", generation=1)["state"]
        assert reader.session.shown.shape == (120, 3)
        reader.until("scores", state=state)
        reader.send("axes", x=0, y=2, z=None)
        reader.send("restore", state=state, pane=0)
        reader.until("restored")
        assert reader.session.shown.shape == (120, 2)
        reader.send("axes", x=2, y=1, z=0)
        reader.send("column", name="feature 0")
        reader.until("column")
        while len(reader.frames[-1]["body"]) != 120 * 3 * 2:
            reader.step()
        places = np.frombuffer(reader.frames[-1]["body"], "<i2").reshape(120, 3)
        shown = lowdim.PCA(3).fit_transform(X)[:, ::-1]
        assert np.corrcoef(places.T, shown.T)[[0, 1, 2], [3, 4, 5]] == pytest.approx(1, abs=1e-6)


def test_coordinates_beyond_two_are_chosen_as_axes():
    X, codes = blobs()
    with Reader(session_of(X, codes, method="pca")) as reader:
        reader.set("pca", n_components=4)
        reader.until("done", generation=1)
        reader.send("axes", x=2, y=3, z=None)
        reader.send("column", name="feature 0")
        reader.until("column")
        np.testing.assert_allclose(reader.session.shown, lowdim.PCA(4).fit_transform(X)[:, 2:], atol=1e-9)


def test_copies_of_rows_are_shown_as_rows():
    X, _ = blobs(90)
    twice = np.concatenate([X, X[:30]])
    with Reader(session_of(twice)) as reader:
        reader.set("tsne", perplexity=5, max_iter=20)
        reader.until("done", generation=1)
        assert reader.session.shown.shape == (120, 2)
        reader.set("tsne", perplexity=6, max_iter=20)
        reader.until("done", generation=2)
        np.testing.assert_array_equal(reader.session.shown[:30], reader.session.shown[90:])


def test_a_sample_slides_and_all_rows_are_placed(monkeypatch):
    X, codes = blobs(200)
    monkeypatch.setattr("lowdim.explore.source.MOST_ROWS", 150)
    monkeypatch.setattr("lowdim.explore.source.SAMPLE_ROWS", 60)
    source = source_of(X, codes).sampled()
    assert (source.n_rows, source.n_all) == (60, 200)
    from lowdim.explore.session import Session
    from lowdim.explore.settings import Setting

    with Reader(Session(source, Setting("pca"))) as reader:
        hello = reader.until("hello")
        assert (hello["rows"], hello["all"]) == (60, 200)
        reader.settle()
        reader.until("done", settled=True)
        names = {"lowdim": lowdim, "np": np, "X": X}
        exec(lines_of(last_settled(reader.session), source)["python"].replace("X = ...", ""), names)
        np.testing.assert_array_equal(names["embedding"], last_settled(reader.session).coordinates)
        assert names["everything"].shape == (200, 2)
        reader.send("place")
        reader.until("badge", text="all 200 rows, placed by the model of the sample")
        reader.set("pca", whiten=True)
        reader.until("done", generation=2)


def test_a_model_shows_its_picture_and_places_new_rows():
    X, _ = blobs(200)
    model = lowdim.LaplacianEigenmaps(n_neighbors=8).fit(X[:150])
    session = model_session(model, new=Source(X[150:]))
    with Reader(session) as reader:
        reader.until("done")
        expected = np.concatenate([model.embedding_, model.transform(X[150:])])
        np.testing.assert_array_equal(session.strip.states[0].coordinates, expected.astype(np.float32))
        assert list(session.source.columns) == ["rows"]
        reader.set("laplacian-eigenmaps", n_neighbors=9)
        reader.until("done", generation=1)
        assert session.shown.shape == (200, 2)
