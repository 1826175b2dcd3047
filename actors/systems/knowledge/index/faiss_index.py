"""What a segment is made of, by its size: all vectors in a row, inverted lists, or a graph.

Called by the building and the searching of segments. Each is a FAISS index whose ids are passages' ids and
whose scores are cosines. Where lists or a graph don't find enough, all vectors are looked at instead.
"""

from dataclasses import dataclass
from typing import Any

from actors.systems.knowledge.index.recall import NEAREST, least_effort, queries_beside, truly_nearest
from models.config import IndexConfig
from models.errors import ModelReplyInvalid
from models.knowledge.passages import SegmentKind

# Of FAISS's guidelines: 4 to 16 times the root of the vectors. More take longer to learn than to search.
_LISTS_PER_ROOT = 4
_GRAPH_LINKS = 32
_GRAPH_CARE = 80  # efConstruction
_GRAPH_EFFORTS = [16, 32, 64, 128, 256, 512, 1024]


@dataclass(frozen=True)
class Built:
    """A FAISS index, how it is to be asked, and how much of the true nearest ten it finds then."""

    kind: SegmentKind
    index: Any
    effort: int
    recall: float


def kind_for(vectors: int, settings: IndexConfig) -> SegmentKind:
    """The kind of a segment of so many vectors."""
    if vectors <= settings.flat_up_to:
        return "flat"
    return "ivf" if vectors <= settings.ivf_up_to else "hnsw"


def build(ids: Any, vectors: Any, settings: IndexConfig, *, threads: int = 1) -> Built:
    """A segment's index.

    Args:
        ids: passages' ids, int64.
        vectors: their vectors, rows of length 1, float32.
        threads: of this thread's work.
    """
    import faiss

    faiss.omp_set_num_threads(threads)
    kind = kind_for(len(ids), settings)
    index = make(kind, ids, vectors)
    if kind != "flat":
        queries = queries_beside(vectors)
        truth = truly_nearest(queries, vectors, ids, min(NEAREST, len(ids)))
        reached = least_effort(
            lambda some, effort: found(index, kind, some, truth.shape[1], effort)[1],
            queries,
            truth,
            _efforts(kind, index),
            settings.least_recall,
        )
        if reached is not None:
            return Built(kind, index, *reached)
        index = make("flat", ids, vectors)
    return Built("flat", index, 1, 1.0)


def make(kind: SegmentKind, ids: Any, vectors: Any) -> Any:
    """The FAISS index alone."""
    import faiss

    index: Any
    dimensions = vectors.shape[1]
    if kind == "ivf":
        lists = max(1, int(_LISTS_PER_ROOT * len(ids) ** 0.5))
        # It learns from 39 vectors a list at least, or FAISS complains.
        lists = max(1, min(lists, len(ids) // 39))
        index = faiss.IndexIVFFlat(
            faiss.IndexFlatIP(dimensions), dimensions, lists, faiss.METRIC_INNER_PRODUCT
        )
        index.train(vectors)
    elif kind == "hnsw":
        graph = faiss.IndexHNSWFlat(dimensions, _GRAPH_LINKS, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = _GRAPH_CARE
        index = faiss.IndexIDMap(graph)
    else:
        index = faiss.IndexIDMap(faiss.IndexFlatIP(dimensions))
    index.add_with_ids(vectors, ids)
    return index


def found(index: Any, kind: SegmentKind, queries: Any, limit: int, effort: int) -> tuple[Any, Any]:
    """The scores and ids of the nearest of each query, best first; an id of -1 where there are no more.

    Raises:
        ModelReplyInvalid: the queries are of another length than the vectors.
    """
    import faiss

    if queries.shape[1] != index.d:
        raise ModelReplyInvalid(
            f"the embedding model gave {queries.shape[1]} numbers, but the index has {index.d}: another "
            "model answers to the same name. Correct embedding.model_name, and index anew"
        )
    parameters: Any = None
    if kind == "ivf":
        parameters = faiss.SearchParametersIVF(nprobe=min(effort, index.nlist))  # type: ignore[call-arg]  # SWIG's
    elif kind == "hnsw":
        parameters = faiss.SearchParametersHNSW(efSearch=max(effort, limit))  # type: ignore[attr-defined]  # SWIG's
    scores, ids = index.search(queries, limit, params=parameters)
    return scores, ids


def _efforts(kind: SegmentKind, index: Any) -> list[int]:
    """What to try. Half of all lists take as long as all vectors in a row."""
    if kind == "hnsw":
        return _GRAPH_EFFORTS
    return [2**power for power in range(20) if 2**power <= max(1, index.nlist // 2)]
