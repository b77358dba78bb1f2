"""Moving pictures of an optimisation."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import lowdim
from lowdim.errors import InputError, InputTypeError, MissingExtraError

pytest.importorskip("matplotlib")
Image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def frames():
    rng = np.random.default_rng(0)
    return [(10 * i, rng.standard_normal((30, 2)) * (i + 1)) for i in range(4)]


def test_every_frame_is_shown(frames, tmp_path):
    path = lowdim.animate(frames, np.arange(30) % 3, path=tmp_path / "moving.gif")
    with Image.open(path) as image:
        assert image.n_frames == 4
    assert [file.name for file in tmp_path.iterdir()] == ["moving.gif"]


def test_points_keep_their_colours(tmp_path, caplog):
    sides = np.arange(40) % 2
    frame = np.column_stack([2.0 * sides - 1.0, np.linspace(-1.0, 1.0, 40)])
    path = lowdim.animate([(0, frame[::-1]), (1, frame)], sides, path=tmp_path / "sides.gif")
    with Image.open(path) as image:
        image.seek(1)
        pixels = np.asarray(image.convert("RGB")).astype(int)
    blue = pixels[..., 2] - pixels[..., 0] > 80  # class 0 is blue, class 1 orange
    orange = pixels[..., 0] - pixels[..., 2] > 80
    map_only = slice(0, int(0.88 * pixels.shape[1]))  # the legend stands on the right
    assert np.mean(np.nonzero(blue[:, map_only])[1]) < 0.2 * pixels.shape[1]
    assert np.mean(np.nonzero(orange[:, map_only])[1]) > 0.6 * pixels.shape[1]
    assert "Ignoring" not in caplog.text


def test_frames_of_a_fit(tmp_path, digits):
    model = lowdim.TSNE(max_iter=30, record=10).fit(digits[0][:100])
    assert lowdim.animate(model.frames_, digits[1][:100], path=tmp_path / "fit.gif").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"path": "moving.avi"}, "must end in .gif"),
        ({"frames": []}, "at least one embedding"),
        ({"frames": [(0, np.zeros((5, 3)))]}, "two dimensions"),
        ({"frames_per_second": 0}, "above 0"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(change, words, frames, tmp_path):
    settings = {"frames": frames, "path": "moving.gif"} | change
    settings["path"] = tmp_path / settings["path"]
    with pytest.raises(InputError, match=words):
        lowdim.animate(settings.pop("frames"), **settings)
    assert list(tmp_path.iterdir()) == []


def test_an_estimator_is_told_to_give_its_frames(tmp_path):
    with pytest.raises(
        InputTypeError, match=r"got the estimator TSNE\. Fit it with record=10, and give its frames_"
    ):
        lowdim.animate(lowdim.TSNE(), path=tmp_path / "moving.gif")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("ending", "sign"), [("mp4", b"ftyp"), ("webm", b"webm")])
def test_films_where_ffmpeg_is_there(frames, tmp_path, ending, sign):
    if shutil.which("ffmpeg") is None:
        pytest.skip("no ffmpeg on this machine: apt-get install ffmpeg")
    path = lowdim.animate(frames, path=tmp_path / f"moving.{ending}")
    assert sign in path.read_bytes()[:64]
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_without_ffmpeg_a_film_is_a_gif(frames, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert lowdim.animate(frames[:2], path=tmp_path / "moving").name == "moving.gif"
    with pytest.raises(MissingExtraError, match="needs the program ffmpeg"):
        lowdim.animate(frames, path=tmp_path / "moving.mp4")
    assert [file.name for file in tmp_path.iterdir()] == ["moving.gif"]
