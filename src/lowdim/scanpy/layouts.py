"""t-SNE and UMAP of cells, as ``sc.tl.tsne`` and ``sc.tl.umap`` are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.messages import listed
from ..core.records import Floats
from ..core.rules import Real
from ..core.streams import make_generator
from ..errors import InputError
from ..estimators.embeddings.tsne import TSNE
from ..estimators.embeddings.umap import UMAP, usual_annealing
from .cells import Cells, open_cells, places, stored, threads
from .graph import NeighborGraph
from .representation import advise, represent

USUAL_PERPLEXITY = 30.0


def tsne(
    adata: Any,
    n_pcs: int | None = None,
    *,
    n_components: int = 2,
    use_rep: str | None = None,
    perplexity: float = USUAL_PERPLEXITY,
    metric: str = "euclidean",
    early_exaggeration: float = 12.0,
    learning_rate: float | str = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
    neighbors_key: str | None = None,
    key_added: str | None = None,
    copy: bool = False,
    modality: str | None = None,
) -> Any:
    """t-SNE of the cells (`lowdim.TSNE`), as ``sc.tl.tsne`` is called; ``sc.pl.tsne`` shows it.

    Parameters
    ----------
    adata
        AnnData, in memory or backed, or MuData.
    n_pcs
        So many of the principal components; 0: X itself; None: all.
    n_components
        Dimensions of the embedding.
    use_rep
        ``"X"`` or a key of ``adata.obsm``. None: X of up to 50 genes, else X_pca, which is computed where it is not
        there, with a warning.
    perplexity, early_exaggeration, learning_rate, metric
        As in `lowdim.TSNE`. The rate that suits the number of cells is taken where scanpy's is 1000 for all.
    random_state
        Seed.
    n_jobs
        Threads; None: all. The result does not depend on it.
    neighbors_key
        Embed the graph that ``sc.pp.neighbors`` has left under this key (``"neighbors"`` where none was said) by its
        connectivities, instead of searching for the neighbours that ``perplexity`` asks for. This is not in scanpy.
    key_added
        Where the coordinates and parameters go: ``adata.obsm[key_added]`` and ``adata.uns[key_added]``. None: X_tsne
        and tsne.
    copy
        Return a copy with the result and leave ``adata`` as it is.
    modality
        Part of a MuData that holds the cells. This is not in scanpy.

    Returns
    -------
    None, or the copy.
    """
    cells = open_cells(adata, modality, copy)
    model = TSNE(
        n_components,
        early_exaggeration=early_exaggeration,
        learning_rate=learning_rate,
        random_state=random_state,
        n_jobs=threads(n_jobs),
    )
    if neighbors_key is None:
        model.set_params(perplexity=perplexity, metric=metric)
        X = represent(cells, use_rep, n_pcs)
    else:
        _check_unsaid(n_pcs=n_pcs, use_rep=use_rep, perplexity=perplexity, metric=metric)
        graph = NeighborGraph(cells, neighbors_key)
        advise_of_graph(cells, graph)
        model.set_params(affinity="precomputed")
        X = graph.connectivities
    obsm, uns = places("tsne", key_added)
    parameters = stored(
        perplexity=perplexity if neighbors_key is None else None,
        early_exaggeration=early_exaggeration,
        learning_rate=learning_rate,
        metric=metric if neighbors_key is None else None,
        use_rep=use_rep,
        n_pcs=n_pcs,
        neighbors_key=neighbors_key,
        random_state=random_state,
    )
    return cells.keep(obsm={obsm: model.fit_transform(X)}, uns={uns: parameters})


def umap(
    adata: Any,
    *,
    min_dist: float = 0.5,
    spread: float = 1.0,
    n_components: int = 2,
    maxiter: int | None = None,
    alpha: float = 1.0,
    gamma: float = 1.0,
    negative_sample_rate: float = 5,
    init_pos: str | NDArray[Any] | None = "spectral",
    random_state: Any = 0,
    a: float | None = None,
    b: float | None = None,
    key_added: str | None = None,
    neighbors_key: str | None = None,
    copy: bool = False,
    n_jobs: int | None = None,
    modality: str | None = None,
) -> Any:
    """UMAP of the graph of the cells (`lowdim.UMAP`), as ``sc.tl.umap`` is called; ``sc.pl.umap`` shows it.

    Parameters
    ----------
    adata
        AnnData, in memory or backed, or MuData, after ``sc.pp.neighbors``, whose graph is embedded as it is.
    min_dist, spread, n_components, negative_sample_rate
        As in `lowdim.UMAP`; scanpy's usual ``min_dist`` is 0.5.
    maxiter
        Iterations, ``max_iter`` of `lowdim.UMAP`.
    alpha
        Step length relative to the usual one.
    gamma
        Weight of the repulsion, ``repulsion_strength`` of `lowdim.UMAP`.
    init_pos
        Where to start: a key of ``adata.obsm``, ``"paga"`` (positions that ``sc.pl.paga`` has left), ``"spectral"``,
        ``"random"``, or coordinates. None: ``"spectral"``.
    random_state
        Seed.
    a, b
        Parameters of the similarity 1 / (1 + a d^2b); None: fitted to ``min_dist`` and ``spread``.
    key_added
        Where the coordinates and parameters go: ``adata.obsm[key_added]`` and ``adata.uns[key_added]``. None: X_umap
        and umap.
    neighbors_key
        Key of ``adata.uns`` under which ``sc.pp.neighbors`` has left its graph; None: ``"neighbors"``.
    copy
        Return a copy with the result and leave ``adata`` as it is.
    n_jobs
        Threads; None: all. The result does not depend on it. This is not in scanpy.
    modality
        Part of a MuData that holds the cells. This is not in scanpy.

    Returns
    -------
    None, or the copy.
    """
    cells = open_cells(adata, modality, copy)
    graph = NeighborGraph(cells, neighbors_key)
    if (a is None) != (b is None):
        raise InputError(f"a and b belong together; got a={a!r} and b={b!r}. Give both, or neither.")
    start = _start(cells, init_pos, random_state)
    _check_start(start, init_pos, (cells.n_cells, n_components))
    model = _GivenCurve(
        n_components=n_components,
        metric="graph",
        min_dist=min_dist,
        spread=spread,
        max_iter=maxiter,
        repulsion_strength=gamma,
        negative_sample_rate=negative_sample_rate,
        init=start,
        random_state=random_state,
        n_jobs=threads(n_jobs),
    )
    if a is not None and b is not None:
        model.curve = _positive("a", a), _positive("b", b)
    if _positive("alpha", alpha) != 1.0:
        usual = usual_annealing(cells.n_cells, maxiter, float(spread), float(min_dist))
        model.set_params(optimizer=replace(usual, rate=alpha * usual.rate))
    advise_of_graph(cells, graph)
    embedding = model.fit_transform(graph.connectivities)
    obsm, uns = places("umap", key_added)
    return cells.keep(
        obsm={obsm: embedding}, uns={uns: stored(a=model.a_, b=model.b_, random_state=random_state)}
    )


class _GivenCurve(UMAP):
    """UMAP whose a and b may be given."""

    curve: tuple[float, float] | None = None

    @property
    def _curve(self) -> tuple[float, float]:
        return self.curve or super()._curve


def advise_of_graph(cells: Cells, graph: NeighborGraph) -> None:
    """Warn where the graph was made of raw counts."""
    use_rep = graph.param("use_rep")
    if use_rep is None and (graph.param("n_pcs") == 0 or "X_pca" not in cells.held.obsm):
        use_rep = "X"
    advise(cells, use_rep)


def _check_unsaid(**given: Any) -> None:
    """Raise an InputError where something is said of a search for neighbours that is not made."""
    usual = {"n_pcs": None, "use_rep": None, "perplexity": USUAL_PERPLEXITY, "metric": "euclidean"}
    for name, value in given.items():
        if value != usual[name]:
            raise InputError(
                f"{name} says which neighbours to search for, and neighbors_key that they are there already; got "
                f"{name}={value!r}. Leave one of them out."
            )


def _positive(name: str, value: float) -> float:
    if not Real(0).allows(value):
        raise InputError(f"{name} must be a number above 0; got {value!r}.")
    return float(value)


def _start(cells: Cells, init_pos: Any, random_state: Any) -> Any:
    """Where to start, as ``init`` of `UMAP` takes it."""
    obsm = cells.held.obsm
    if init_pos is None:
        return "spectral"
    if not isinstance(init_pos, str):
        return np.asarray(init_pos, dtype=np.float64)
    if init_pos in obsm:
        return np.asarray(obsm[init_pos], dtype=np.float64)
    if init_pos == "paga":
        return _paga_positions(cells, random_state)
    if init_pos not in ("spectral", "random"):
        raise InputError(
            "init_pos must be 'spectral', 'random', 'paga', coordinates or a key of adata.obsm, "
            f"{listed(map(repr, obsm.keys())) or 'which is empty'}; got {init_pos!r}."
        )
    return init_pos


def _check_start(start: Any, init_pos: Any, wanted: tuple[int, int]) -> None:
    """Positions are told by the name that they have here; UMAP would call them init."""
    if not isinstance(start, str) and start.shape != wanted:
        name = f"init_pos={init_pos!r}" if isinstance(init_pos, str) else "init_pos"
        raise InputError(
            f"{name} must have a row for each cell and n_components columns, {wanted}; got {start.shape}. Give "
            "another key, or coordinates such as adata.obsm['X_pca'][:, :2]."
        )


def _paga_positions(cells: Cells, random_state: Any) -> Floats:
    """Each cell near its group in the drawing of ``sc.pl.paga``, along the edge to the group it is tied to most.

    A cell lies anywhere in the box that the edge spans, around the group, as scanpy has it.
    """
    paga = cells.held.uns.get("paga")
    if not isinstance(paga, Mapping) or "pos" not in paga:
        raise InputError(
            "init_pos='paga' needs adata.uns['paga']['pos'], which is not there. Run sc.tl.paga(adata) and "
            "sc.pl.paga(adata, show=False) first."
        )
    groups = cells.held.obs[str(np.ravel(paga["groups"])[0])].astype("category").cat.codes.to_numpy()
    centers = np.asarray(paga["pos"], dtype=np.float64)
    ties = paga["connectivities"]
    ties = np.array(ties.todense() if hasattr(ties, "todense") else ties, dtype=np.float64)
    np.fill_diagonal(ties, 0.0)
    nearest = ties.argmax(axis=1)
    edges = np.where(ties.max(axis=1)[:, None] > 0, centers - centers[nearest], 0.0)
    share = make_generator(random_state).random((cells.n_cells, centers.shape[1])) - 0.5
    return np.asarray(centers[groups] + share * edges[groups])
