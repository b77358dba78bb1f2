"""Every way to go wrong: the exit code, and a message that says what to do."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lowdim.cli import main
from lowdim.cli.failures import explain, locate_gap
from lowdim.errors import FileError

WRONG_USE = [
    ("embde x", "there is no command 'embde'. Did you mean embed?"),
    ("--frobnicate", "there is no option '--frobnicate'."),
    ("embed", "DATA is missing."),
    ("embed --json points.npy", "--json took 'points.npy' as the file to write"),
    ("embed points.npy more.npy", "'more.npy' is one argument too many: lowdim embed takes DATA."),
    ("embed points.npy --method isomapp", "there is no method 'isomapp'. Did you mean isomap?"),
    ("embed points.npy --method zzz", "'lowdim embed --help' says what each is for"),
    ("embed points.npy --neighbours 5", "has no option --neighbours. Did you mean --n-neighbors?"),
    ("embed points.npy -m isomap --n-neighbor=5", "Did you mean --n-neighbors?"),
    ("embed points.npy -m isomap --perplexity 5", "The method isomap has none; sne, symmetric-sne, tsne"),
    ("embed points.npy --repulsion-theta 0.5", "It belongs to --repulsion barnes-hut: name that too."),
    ("embed points.npy -m lle --landmarks 100", "It belongs to --solver lll or landmark-z or nystrom"),
    ("embed points.npy -m umap --n-epochs 5", "has no option --n-epochs. It is called --max-iter here."),
    ("embed points.npy --random-state 1", "has no option --random-state. It is called --seed here."),
    ("score points.npy map.npy --n-jobs 1", "has no option --n-jobs. It is called --threads here."),
    ("embed points.npy -m lle --solver lll --n-landmarks 9", "--n-landmarks. It is called --landmarks here."),
    ("embed points.npy -m lle --solver lll --solver-n-landmarks 9", "It is called --landmarks here."),
    ("embed points.npy --qqqqqq", "lowdim embed has no option --qqqqqq.\n"),
    ("embed points.npy --perplexity", "--perplexity needs a value."),
    ("embed points.npy --force=yes", "--force takes no value; got 'yes'."),
    ("embed points.npy -v -q", "exclude each other: give one of them."),
    (
        "embed points.npy -m isomap -k five",
        "-k/--n-neighbors: must be a whole number or none, or one of auto, auto:recall_area,",
    ),
    (
        "embed points.npy --perplexity many",
        "--perplexity: must be a number or none, or one of auto, auto:bic,",
    ),
    (
        "embed points.npy -m isomap -k 0",
        "--n-neighbors must be a whole number >= 1, or one of 'auto', 'auto:recall_area',",
    ),
    ("embed points.npy -m isomap -k 2.5", "'auto:connected', or none; got 2.5."),
    (
        "embed points.npy -m lle --variant modifid",
        "--variant must be one of 'standard', 'modified', 'hessian', 'ltsa'; got 'modifid'. Did you mean 'modified'?",
    ),
    ("embed points.npy -m lle --solver lll --landmarks 1", "--landmarks must be a whole number >= 2; got 1."),
    (
        "embed points.npy --max-iter 10,20",
        "got '10,20'. 'lowdim sweep DATA --grid max_iter=10,20' tries each.",
    ),
    (
        "embed points.npy -m isomap -k 5,10",
        "got '5,10'. 'lowdim sweep DATA --grid n_neighbors=5,10' tries each.",
    ),
    ("embed points.npy -m isomap -k 5,ten", "got '5,ten'.\n"),
    (
        "embed points.npy -m isomap --solver lll --solver-tolerance 0.1",
        "Set polish too, for example --solver-polish 20.",
    ),
    (
        "embed points.npy --affinity gaus",
        "'binary', 'entropic', 'fuzzy', 'gaussian', 'self-tuning'; got 'gaus'. Did you mean 'gaussian'?",
    ),
    ("embed points.npy -m lle --solver arpack", "What other libraries call 'arpack' is 'lanczos'."),
    (
        "embed points.npy -m laplacian-eigenmaps --affinity rbf",
        "What other libraries call 'rbf' is 'gaussian'.",
    ),
    (
        "embed points.npy -m laplacian-eigenmaps --affinity precomputed_nearest_neighbors",
        "is --metric precomputed, with the sparse graph of distances as X.",
    ),
    ("embed points.npy --lam 3", "--lam must be at most 1 for TSNE"),
    (
        "embed points.npy -m isomap --metric minkowski --metric-params p=-3",
        "p of --metric-params must be a number > 0 (inf: no bound); got -3.",
    ),
    ("embed points.npy -m isomap --metric-params 3", "--metric-params: must be NAME=VALUE, such as p=3"),
    ("embed points.npy -m isomap --metric-params p=3", "--metric euclidean takes no parameters"),
    ("embed points.npy --affinity entropic --perplexity 5", "--perplexity belongs to --affinity auto"),
    (
        "embed points.npy --memory-limit much",
        "--memory-limit must be bytes or a size such as '4 GB'; got 'much'.",
    ),
    ("embed points.npy -o out.xyz", "--output: 'out.xyz' must end in .npy, .csv"),
    (
        "embed points.npy --plot out.bmp",
        "--plot: 'out.bmp' must end in .png, .svg, .pdf, .html, .gif, .mp4 or .webm.",
    ),
    ("embed points.npy -m pca --plot out.gif", "--plot: 'out.gif' must end in .png, .svg, .pdf or .html."),
    ("embed points.npy --report out.pdf", "--report: 'out.pdf' must end in .html or .htm."),
    (
        "embed points.npy -o a.csv --plot a.png --plot a.png",
        "--plot and --plot name the same file, 'a.png': name two.",
    ),
    ("embed points.npy -o - --json -", "--output and --json would both write to standard output"),
    ("embed points.npy -d 5 --plot a.png", "--plot shows up to 3 dimensions; got --n-components 5."),
    (
        "embed points.npy -d 3 --plot a.gif",
        "--plot: a moving picture shows 2 dimensions; got --n-components 3.",
    ),
    (
        "embed points.npy -o a.h5ad",
        "copy of the input with the coordinates added, and 'points.npy' is none",
    ),
    ("transform", "MODEL is missing."),
    ("transform - -", "standard input (-) can be read only once"),
    ("sweep points.npy", "--grid is missing: name a parameter and its values"),
    (
        "sweep points.npy --grid n_neighbors",
        "--grid must be NAME=VALUES, as n_neighbors=5,10,20; got 'n_neighbors'.",
    ),
    (
        "sweep points.npy -m isomap --grid n_neighbours=5,6",
        "isomap has no parameter 'n_neighbours'. Did you mean n_neighbors?",
    ),
    (
        "sweep points.npy -m isomap --grid n_neighbors=5,six",
        "--grid n_neighbors: must be a whole number or none, or one of auto,",
    ),
    (
        "sweep points.npy --grid perplexity=5 -o a.parquet",
        "--output: 'a.parquet' must end in .csv, .tsv or .json.",
    ),
    ("score points.npy", "EMBEDDING is missing."),
    ("score points.npy points.npy --measures trust", "there is no measure 'trust'. Did you mean"),
    ("plot points.npy --label kind", "points.npy has no column 'kind'. It has none but coordinates"),
    ("plot points.npy --data points.csv", "name the column with --label."),
    ("plot points.npy --columns 1,b", "--columns must be whole numbers with commas, as 1,2; got '1,b'."),
    (
        "plot points.npy --columns 1,9",
        "--columns must name one to three of the 4 coordinates, from 1; got '1,9'.",
    ),
    ("plot points.npy -o out.docx", "--output: 'out.docx' must end in .png, .svg, .pdf or .html."),
    ("completion tcsh", "there are completions for bash, zsh and fish; got 'tcsh'."),
    ("info a b", "'b' is one argument too many: lowdim info takes FILE."),
]

FAILURES = [
    (
        "embed points.npy -m isomap --n-neighbors 4 --radius 3",
        "decides who is a neighbour, not both; got --n-neighbors 4 and --radius 3. Leave one of them out.",
    ),
    (
        "sweep points.npy -m isomap --grid n_neighbors=4,5 --score labels",
        "--score labels needs labels, one for each row of DATA; got none. Give --label, or use another score.",
    ),
    (
        "sweep points.csv --label kind --id name -m isomap --grid n_neighbors=4 --test 0.5 --out-of-sample 0.6",
        "--test and --out-of-sample must leave at least 2 rows to train on",
    ),
    ("embed nothing.npy", "nothing.npy: there is no such file."),
    ("embed point.csv", "Did you mean points.csv?"),
    ("embed there/is/nothing.csv", "there is no such file"),
    ("embed points.csv --id name", "kind"),
    ("embed points.csv --label knd", "--label: points.csv has no column 'knd'. Did you mean 'kind'?"),
    ("embed points.npy --label kind", "--label: points.npy is .npy, to which it does not apply"),
    ("embed points.npy -o missing/out.npy", "does not exist"),
    ("embed points.npy -o points.npy --force", "an input is never written over"),
    ("embed points.npy -o there.npy", "there.npy: is there already."),
    ("embed points.npy --json there.npy", "there.npy: is there already."),
    (
        "embed points.npy -m isomap -k 60",
        "--n-neighbors must be less than the number of points; got --n-neighbors 60",
    ),
    ("embed points.npy -m pca -d 9", "--n-components must be at most 4"),
    ("embed gaps.csv --label kind", "gaps.csv"),
    (
        "embed gaps.npy -m pca",
        "2 of 60 rows have missing or infinite values, first in row 3, column 1 (counted from 0). Take",
    ),
    ("embed points.npy -m isomap --memory-limit 10kB", "--memory-limit"),
    ("embed text.npy", "text.npy"),
    ("transform points.npy points.npy", "points.npy"),
    ("embed points.npy -m pca --plot a.html --images short.npy", "short.npy: holds 30 images for 60 rows."),
    ("score points.npy short.npy", "short.npy: has 30 rows where points.npy has 60."),
    ("score points.npy points.npy -k 80", "--n-neighbors must be less than the number of points"),
    ("score points.csv points.npy --id name --label kind --confidence 2", "--confidence must be"),
    ("info points.lowdim", "points.lowdim: there is no such file."),
]


@pytest.fixture
def broken_files(folder, table):
    X = table[0].copy()
    np.save(folder / "there.npy", X)
    np.save(folder / "short.npy", X[:30])
    np.save(folder / "text.npy", np.array([["a", "b"]]))
    X[3, 1], X[5, 0] = np.nan, np.inf
    np.save(folder / "gaps.npy", X)
    (folder / "gaps.csv").write_text("a,b,kind\n1,2,x\n,4,y\n5,6,x\n")
    return folder


@pytest.mark.parametrize(("line", "message"), WRONG_USE, ids=[line for line, _ in WRONG_USE])
def test_wrong_use(lowdim_command, line, message):
    answer = lowdim_command(line)
    assert answer.code == 2, answer.err
    assert message in answer.err + "\n"
    assert answer.err.startswith("lowdim")
    assert answer.err.rstrip().endswith("--help'.")
    assert "Traceback" not in answer.err
    assert answer.out == ""


@pytest.mark.parametrize(("line", "message"), FAILURES, ids=[line for line, _ in FAILURES])
def test_failures(lowdim_command, broken_files, line, message):
    before = sorted(Path().iterdir())
    answer = lowdim_command(line)
    assert answer.code == 1, answer.err
    assert message in answer.err
    assert answer.err.startswith(f"lowdim {line.split()[0]}: error: ")
    assert "Traceback" not in answer.err
    assert answer.out == ""
    assert sorted(Path().iterdir()) == before


def test_a_target_is_checked_before_the_data_are_read(lowdim_command, folder, monkeypatch):
    from lowdim.data import files

    def read(*_, **__):
        raise AssertionError("the data were read")

    monkeypatch.setattr(files, "read", read)
    (folder / "out.npy").write_text("mine")
    assert "is there already" in lowdim_command("embed points.npy -o out.npy").err
    assert (folder / "out.npy").read_text() == "mine"


def test_force_replaces(lowdim_command, folder):
    (folder / "out.npy").write_text("old")
    assert lowdim_command("embed points.npy -m pca -o out.npy --force").code == 0
    assert np.load("out.npy").shape == (60, 2)


def test_pictures_without_matplotlib(lowdim_command, monkeypatch):
    monkeypatch.setattr("lowdim.plotting.drawing.find_spec", lambda name: None)
    answer = lowdim_command("embed points.npy --plot a.png")
    assert answer.code == 1
    assert "pip install 'lowdim[plot]'" in answer.err


@pytest.mark.parametrize("flags", [["-vv"], ["-v", "-v"], ["--verbose", "--verbose"]])
def test_tracebacks_only_where_all_is_wanted(lowdim_command, flags):
    assert "Traceback" in lowdim_command(["embed", "nothing.npy", *flags]).err


def test_a_fault_of_the_program_is_called_one(lowdim_command, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no idea")

    monkeypatch.setattr("lowdim.cli.commands.embed.check_sources", fail)
    answer = lowdim_command("embed points.npy")
    assert answer.code == 1
    assert "RuntimeError: no idea. This is a fault of lowdim" in answer.err


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FileError("x: is bad"), "x: is bad"),
        (MemoryError(), "no memory left"),
        (MemoryError("of 3 GB"), "fewer rows. of 3 GB"),
        (PermissionError(13, "Permission denied", "/root/x"), "/root/x: Permission denied."),
        (OSError("odd"), "odd."),
        (ModuleNotFoundError("No module named 'x'", name="x"), "not installed: No module named 'x'"),
        (ValueError("first line\nsecond line"), "first line"),
        (ValueError(), "no message"),
    ],
)
def test_explanations(error, words):
    assert words in explain(error)
    assert "second" not in explain(error)


def test_gaps_are_located_in_any_block():
    X = np.zeros((30, 1_000_000), np.float16)
    table = SimpleNamespace(X=X, feature_names=None)
    assert locate_gap(table) == ""
    X[25, 3] = X[28, 1] = np.inf
    names = [f"c{i}" for i in range(X.shape[1])]
    expected = "2 of 30 rows have missing or infinite values, first in row 25, column 'c3' (counted from 0)"
    assert locate_gap(SimpleNamespace(X=X, feature_names=names)) == expected


def test_interruption_outside_an_optimisation_writes_nothing(lowdim_command, folder, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("lowdim.Isomap.fit", interrupt)
    before = sorted(Path().iterdir())
    answer = lowdim_command("embed points.npy -m isomap -o out.npy")
    assert answer.code == 130
    assert answer.err == "lowdim embed: interrupted: nothing was written.\n"
    assert sorted(Path().iterdir()) == before


def test_interruption_while_writing_says_what_is_there(lowdim_command, folder, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("lowdim.cli.files.outputs.draw", interrupt)
    answer = lowdim_command("embed points.npy -m pca -o out.npy --plot a.png")
    assert answer.code == 130
    assert answer.err == "lowdim embed: interrupted: only out.npy was written.\n"
    assert (folder / "out.npy").exists()


def test_interruption_of_an_optimisation_keeps_the_best_so_far(lowdim_command, folder, monkeypatch):
    from lowdim.core.events import Events

    emit = Events.emit

    def interrupted(self, kind, message="", **data):
        emit(self, kind, message, **data)
        if data.get("iteration") == 8:
            raise KeyboardInterrupt

    monkeypatch.setattr(Events, "emit", interrupted)
    answer = lowdim_command("embed points.npy --perplexity 5 -o out.npy --json a.json")
    assert answer.code == 130
    assert "Interrupted: the best result so far, after 8 iterations, is in out.npy." in answer.err
    assert np.isfinite(np.load("out.npy")).all()
    import json

    report = json.loads((folder / "a.json").read_text())
    assert report["interrupted"] is True
    assert report["quality"] is None


def test_interruption_of_the_measuring_loses_nothing(lowdim_command, folder, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("lowdim.metrics.score", interrupt)
    answer = lowdim_command("embed points.npy -m pca -o out.npy --quality")
    assert answer.code == 130
    assert answer.err == "Interrupted: the whole result, its quality not measured, is in out.npy.\n"
    assert (folder / "out.npy").exists()


def test_without_streams_nothing_breaks(folder, monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    assert main(["embed", "points.npy", "-m", "pca", "-v"]) == 0
    assert main(["embed"]) == 2
    monkeypatch.setattr("sys.stdout", None)
    assert main(["--help"]) == 1
    assert main(["embed", "points.npy", "-m", "pca", "-o", "-"]) == 1


def test_output_that_cannot_be_written_is_drop_unwritable_output(monkeypatch, tmp_path):
    class Full:
        """A standard output on a full disk."""

        def __init__(self, file):
            self.file = file

        def write(self, text):
            return len(text)

        def isatty(self):
            return False

        def flush(self):
            raise OSError(28, "No space left on device")

        def fileno(self):
            return self.file.fileno()

    with (tmp_path / "out").open("w") as file:
        monkeypatch.setattr("sys.stdout", Full(file))
        assert main(["--version"]) == 1
        file.write("goes nowhere")
    assert (tmp_path / "out").read_text() == ""


def test_other_libraries_warn_only_where_all_is_wanted(lowdim_command, monkeypatch):
    import warnings

    from lowdim.cli.files import inputs

    real = inputs.describe_table

    def describe(table):
        warnings.warn("of others", RuntimeWarning, stacklevel=1)
        return real(table)

    monkeypatch.setattr("lowdim.cli.commands.embed.describe_table", describe)
    assert "of others" not in lowdim_command("embed points.npy -m pca").err
    assert "Warning: of others" in lowdim_command("embed points.npy -m pca --force -vv").err


def test_arguments_default_to_those_of_the_process(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["lowdim", "--version"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("lowdim ")


def test_a_reader_that_goes_away(monkeypatch, folder, capfd):
    def broken(text):
        raise BrokenPipeError

    monkeypatch.setattr("lowdim.cli.terminal.streams.emit", broken)
    assert main(["plan", "points.npy"]) == 141
    assert capfd.readouterr().err == ""
