"""``lowdim embed``: data in, coordinates out."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

from ..failures import about, finding_gaps, naming
from ..files.columns import is_pairwise, remember
from ..files.in_shards import add_shard_workers, choose_shards
from ..files.inputs import (
    OWN,
    ask_as_label,
    check_sources,
    describe_table,
    input_files,
    read_images,
    read_table,
)
from ..files.outputs import Outputs, add_outputs
from ..files.targets import STANDARD, Results, write_json, writing
from ..options.build import build, described, read_extra
from ..options.method import DEFAULT_METHOD, Chosen, add_choice, add_method, choose
from ..options.shared import add_input, add_talk
from ..options.table import added_methods, methods
from ..options.wording import USUAL_WEIGHT
from ..parser import Parser, given
from ..program import DONE, INTERRUPTED
from ..remarks import remark_on_data, remark_on_result
from ..session import Session
from ..shard_work import check_embed, embed_shards
from ..summary import measure, summarise
from ..terminal.streams import as_typed_text
from ..usage import UsageError

TEXT = """\
Turn the rows of DATA into a few coordinates that keep what is near together, and write them, pictures of them, a
report, or a model that places new data on the same map.

DATA is .npy, .npz, .csv or .tsv (.gz too), .parquet, .mtx, .h5ad, .zarr, or - for CSV on standard input; or a folder,
or a pattern in quotes, of .npy or .parquet files. Columns of a table that are not numbers must be named by --label,
--id or --drop. What memory does not hold is worked on in shards, a block of rows at a time.
"""
OF_OTHERS = """\
The options below are those of t-SNE, which is taken where none is named. 'lowdim embed --method isomap --help' shows
those of another.
"""
EXAMPLES = [
    (
        "lowdim embed cells.csv --label type --plot cells.png",
        "t-SNE of a table, drawn and coloured by a column",
    ),
    ("lowdim embed cells.csv --id barcode -o cells-2d.parquet", "coordinates with the names of the rows"),
    (
        "lowdim embed cells.h5ad -m umap --obsm X_pca --label cell_type --plot cells.html",
        "single cells by their principal components, coloured by a column of obs or a gene",
    ),
    (
        "lowdim embed X.npy -m laplacian-eigenmaps -d 3 --solver lll --landmarks 1000 -o Y.npy",
        "large data by landmarks",
    ),
    (
        "lowdim embed X.npy -m isomap -k 12 --plot map.html --report report.html",
        "a page to explore, and a report",
    ),
    ("lowdim embed cells.csv -m umap --target type --plot cells.png", "UMAP that follows a column of labels"),
    ("lowdim embed X.npy --pca 50 --plot map.png", "principal components first, for many noisy columns"),
    ("lowdim embed X.npy --model map.lowdim", "a model for 'lowdim transform'"),
    (
        "lowdim embed big.zarr --memory-limit '4 GB' -o map.zarr",
        "more rows than memory holds, a block at a time",
    ),
    ("cat X.csv | lowdim embed - -o - --seed 1 > Y.csv", "as a filter"),
    ("lowdim embed --method isomap --help", "what can be set of Isomap"),
]
KEEPS = {
    "tsne": "neighbours stay neighbours: the usual picture of groups",
    "umap": "the same, tighter, along UMAP's graph; a column may guide it: --target",
    "pacmap": "neighbours, and the picture at large: near, mid-near and further pairs",
    "large-vis": "as umap, with tsne's affinities and a stronger repulsion",
    "force-atlas2": "a graph, its own or that of the neighbours, by springs and charges",
    "laplacian-eigenmaps": "who is close to whom: smooth curves and branches, large data",
    "diffusion-map": "where walks along the data lead: branches, whatever the density",
    "isomap": "distances along a curved surface",
    "lle": "how each point is made of its neighbours; also modified, Hessian, LTSA",
    "spectral-clustering": "groups, and coordinates in which they lie apart",
    "elastic-embedding": "as tsne, by springs and repulsion; --lam sets the width",
    "symmetric-sne": "as tsne, with Gaussian tails: tighter pictures",
    "sne": "the first of these, with a probability for each point",
    "neighbor-spectrum": "from tsne or another --objective to eigenmaps: --position from 0 to 2",
    "pca": "variance: the quickest, linear, for a first look",
    "classical-mds": "distances of any --metric",
    "mds": "distances of any --metric, by least stress, or their order alone",
    "sammon": "as mds, with more weight on small distances",
    "kernel-pca": "inner products of a --kernel",
    "oriented-pca": "signal against --noise, linear",
}
"""What each method keeps, in the order in which to consider them."""


@dataclass(frozen=True, slots=True)
class Work:
    """What came of it; ``whole`` is what places new data: the model, after principal components if there are any."""

    table: Any
    model: Any
    whole: Any
    images: Any
    scores: Any


def make_parser(arguments: list[str]) -> Parser:
    """Options of the chosen method among those of the command."""
    chosen = choose(arguments)
    of_method = f"Chosen: {chosen.method.title}. {chosen.method.summary}"
    text = f"{TEXT}\n{listed_methods()}\n\n{of_method if chosen.is_named else OF_OTHERS}"
    parser = Parser("embed", "DATA [--method NAME] [options]", text, EXAMPLES)
    parser.add_positional("DATA", "the rows to embed")
    add_choice(parser, "one of the above")
    parser.add_argument(
        "--pca",
        metavar="N",
        type=int,
        help="first reduce DATA to its N leading principal components, as is usual for thousands of noisy columns",
    )
    parser.set_defaults(target=None)
    if _target_weight(chosen) is not None:
        parser.add_argument(
            "--target",
            metavar="COLUMN",
            type=as_typed_text,
            help="column that the embedding is to follow too, by name or number: labels, or numbers with "
            "--target-metric euclidean; it is no feature, and colours pictures where --label is not given",
        )
    add_outputs(parser)
    add_method(parser, chosen)
    add_shard_workers(parser)
    add_input(parser)
    add_talk(parser)
    return parser


def listed_methods() -> str:
    """The methods, one to a line."""
    names = [*KEEPS, *(name for name in methods() if name not in KEEPS)]
    width = max(map(len, names)) + 2
    lines = [
        f"  {name:<{width}}{KEEPS.get(name, methods()[name].title)}{' (default)' if name == DEFAULT_METHOD else ''}"
        for name in names
    ]
    added = [f"  {name:<{width}}of {package}" for name, package in added_methods().items()]
    return "Methods, and what they keep:\n" + "\n".join([*lines, *added])


def run(options: argparse.Namespace, session: Session) -> int:
    """Check everything that can be checked, then work, then write."""
    began = time.perf_counter()
    chosen: Chosen = options.chosen
    sources = [options.data, *given(options, "data:").values()]
    if options.images != OWN:
        sources.append(options.images)
    check_sources(*sources)
    inputs = input_files(*sources)
    _ask_for_target(options)
    outputs = Outputs.of(options, chosen, inputs)
    model = build(chosen, options, callback=session.listen, **outputs.demands(options))
    outputs.check(model)
    _check_components(options, model)
    held = choose_shards(options.data, options, model, limit=model.memory_limit)
    if held is not None:
        check_embed(options, outputs, held)
        return embed_shards(options, session, model, held, outputs, began)
    with about(options.data):
        work = _work(model, options, session, wants_scores=outputs.wants_scores)
    with writing(session) as results:
        outputs.write(results, work, session)
        _write_json(results, options, work, session, inputs, time.perf_counter() - began)
        if outputs.coordinates == STANDARD:
            outputs.write_coordinates(results, model, work.table)
    session.quieten()
    seconds = time.perf_counter() - began
    summarise(session, describe_table(work.table), chosen, model, work.scores, results.written, seconds)
    if session.interrupted:
        places = ", ".join(name for name in results.written if name != options.json) or "standard output"
        session.console.tell(f"Interrupted: {_kept(model)}, is in {places}.{session.advice}")
    return INTERRUPTED if session.interrupted else DONE


def _target_weight(chosen: Chosen) -> float | None:
    """What targets weigh unless it is said; None where the method follows none."""
    weights = [each.default for each in chosen.method.parameters if each.name == "target_weight"]
    return weights[0] if weights else None


def _ask_for_target(options: argparse.Namespace) -> None:
    """The column of targets is read as one more label, and counts where nothing else is said."""
    if options.target is None:
        return
    ask_as_label(options, options.target, "--target")
    if not _target_weight(options.chosen) and "target_weight" not in given(options, "own:"):
        setattr(options, "own:target_weight", USUAL_WEIGHT)


def _targets(table: Any, options: argparse.Namespace) -> dict[str, Any]:
    """What ``fit`` is given besides the rows."""
    if options.target is None:
        return {}
    # Labels are read in the order in which they were asked for, so that a number finds its name.
    names = list(table.columns)
    name = options.target if options.target in names else names[options.label.index(options.target)]
    return {"y": table.columns[name]}


def _check_components(options: argparse.Namespace, model: Any) -> None:
    """A UsageError where principal components cannot be what the method works on."""
    if options.pca is None:
        return
    if options.pca < 1:
        raise UsageError(f"--pca must be a whole number of at least 1; got {options.pca}.")
    if is_pairwise(model):
        raise UsageError(
            "--pca reduces the columns of points, and here DATA holds values between points. Leave out --pca."
        )
    if given(options, "data:").get("noise"):
        raise UsageError("--pca and --noise: the noise has the columns of DATA itself. Leave out --pca.")


def _write_json(
    results: Results,
    options: argparse.Namespace,
    work: Work,
    session: Session,
    inputs: list[str],
    seconds: float,
) -> None:
    """All that was done, for machines; what was written before it is named in it."""
    content = {
        "command": session.command,
        "input": {"source": options.data, "shape": list(work.table.X.shape), "label": work.table.label},
        "method": options.chosen.method.name,
        "parameters": described(work.model),
        "interrupted": session.interrupted,
        "report": work.model.report_.as_dict(),
        "quality": None if work.scores is None else work.scores.as_dict(),
        "written": list(results.written),
        "seconds": seconds,
    }
    results.write(options.json, lambda: write_json(options.json, content, force=options.force, inputs=inputs))


def _work(model: Any, options: argparse.Namespace, session: Session, *, wants_scores: bool) -> Work:
    table = read_table(options.data, options, session)
    images = read_images(options.images, table.X)
    extra = read_extra(options.chosen, options) | _targets(table, options)
    with finding_gaps(table), naming("y", {"": "--target"}):
        remark_on_data(table, model, options, session)
        whole = model if options.pca is None else _after_components(options.pca, model)
        X = table.X if whole is model else _leading_components(table.X, whole[0], session)
        session.expect(model.plan(X))
        model.fit(X, **extra)
    model.callback = None  # a model file holds no functions
    remark_on_result(model, session)
    remember(model if whole is model else whole[0], table, options)
    is_wanted = wants_scores or session.console.shows_summary if options.quality is None else options.quality
    scores = None
    if is_wanted and not session.interrupted:
        try:
            scores = measure(model, table, session)
        except KeyboardInterrupt:  # the embedding is finished, and not to be lost
            session.interrupted = True
    return Work(table, model, whole, images, scores)


def _after_components(count: int, model: Any) -> Any:
    """A model after so many principal components, which are found by its own seed and threads."""
    from sklearn.pipeline import make_pipeline

    from ... import PCA

    return make_pipeline(PCA(count, random_state=model.random_state, n_jobs=model.n_jobs), model)


def _leading_components(X: Any, reducer: Any, session: Session) -> Any:
    """The rows in their leading principal components."""
    if reducer.n_components > min(X.shape):
        from ...errors import InputError

        raise InputError(
            f"--pca must be at most {min(X.shape):,}, the smaller of the numbers of rows and columns of DATA; got "
            f"{reducer.n_components:,}."
        )
    with session.stage("principal components"):
        return reducer.fit_transform(X)


def _kept(model: Any) -> str:
    """What an interruption left."""
    figures = model.report_.figures
    if figures.get("stopped") == "interrupted":
        return f"the best result so far, after {figures['iterations']} iterations"
    return "the whole result, its quality not measured"
