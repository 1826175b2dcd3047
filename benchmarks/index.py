"""index: what the indexing of projects costs beside what it stands on.

Embedding: the actor of the batch (`PassageEmbedding`, without Ray: sources read from Postgres, cut, embedded,
kept in Postgres) against a bare `SentenceTransformer.encode` over the same passages, already cut; the bundled
model, one thread, in turns. Building: a segment's index with its recall measured and its effort found
(`faiss_index.build`) against the same FAISS index trained and filled, one thread, in turns; vectors (384
numbers) lie around 2,000 centres. What a whole segment takes, read from Postgres, written and put in place,
is told beside.

Aim: passages/s ≥ 0.9 × the bare loop's; vectors/s of building ≥ 0.95 × bare FAISS's.
"""

import asyncio
import random
import time
from typing import Any

import numpy
import psycopg
import pyarrow as pa

from actors.platform.search.encoder import embeddings_folder
from actors.systems.knowledge.index import faiss_index
from actors.systems.knowledge.index.building import SegmentBuilder
from benchmarks.harness.bench import Bench
from benchmarks.harness.figures import median, times
from benchmarks.harness.report import Aim, Report, Table
from models.config import Config
from models.store.database import Database
from pipelines.indexing_stages import IndexingWork, PassageEmbedding, cutter_of

_DIMENSIONS, _CENTRES = 384, 2000
_AIM_EMBEDDING, _AIM_BUILDING = 0.9, 0.95
_LINKS, _CARE = 32, 80
_QUANTISED = (
    "A quantised ONNX model of the bundled one (onnxruntime 1.32, 8 bits, one thread) was tried once on 400 "
    "passages of the World Factbook: 1.4 × the rate of torch at a recall@10 of 0.934. It was to be "
    "2 × at 0.99: it is not used."
)
_WORDS = "the mill river water bank rate growth of in report year price high low said when it and rests"


def measure(bench: Bench) -> Report:
    """Embed, then build."""
    machine = bench.machine("faiss-cpu", "sentence-transformers", "torch", "psycopg", "numpy")
    repetitions = 1 if bench.quick else 3
    _, config = bench.configure({"knowledge.index.dir": str(bench.folder / "index")})
    with bench.database() as url:
        ours, bare, ratio, passages = _embedding(config, url, repetitions, sources=10 if bench.quick else 32)
    rows, ratios = [], []
    for kind, vectors in (
        ("ivf", 20_001 if bench.quick else 60_000),
        ("hnsw", 5_000 if bench.quick else 12_000),
    ):
        sizes = {"flat_up_to": 1000, "ivf_up_to": 100_000 if kind == "ivf" else 1001}
        settings = config.knowledge.index.model_copy(update=sizes)
        mine, theirs, faster, recall = _building(kind, vectors, settings, repetitions)
        with bench.database() as url:
            whole = asyncio.run(_whole(url, config, settings, vectors))
        ratios.append(faster)
        figures = (f"{mine:.0f}", f"{theirs:.0f}", times(ratios[-1]), f"{whole:.0f}", f"{recall:.3f}")
        rows.append((f"{kind}, {vectors:,} vectors", *figures))
        print(rows[-1], flush=True)
    return Report(
        name="index",
        measured=f"{passages} passages a contestant and turn; {repetitions} turns of each, "
        "medians; a ratio is the median of the turns'.",
        machine=machine,
        tables=[
            Table(
                "embedding, passages/s",
                ("the batch's actor", "bare encode", "ratio"),
                [(f"{ours:.1f}", f"{bare:.1f}", times(ratio))],
            ),
            Table(
                "building, vectors/s",
                (
                    "segment",
                    "with recall measured",
                    "bare FAISS",
                    "ratio",
                    "with Postgres and file",
                    "recall@10",
                ),
                rows,
            ),
        ],
        aims=[
            Aim("embedding at ≥ 0.9 × a bare encode loop", ratio >= _AIM_EMBEDDING, times(ratio)),
            Aim("building at ≥ 0.95 × bare FAISS", min(ratios) >= _AIM_BUILDING, times(min(ratios))),
        ],
        notes=[_QUANTISED],
    )


def _embedding(config: Config, url: str, turns: int, *, sources: int) -> tuple[float, float, float, int]:
    """Passages/s of the batch's actor and of a bare loop, their ratio, and the passages of a turn."""
    from sentence_transformers import SentenceTransformer

    made_of = cutter_of(config)
    texts = [_text(number) for number in range(sources)]
    passages = [text[start:end] for text in texts for start, end in made_of.spans(text)]
    stage = PassageEmbedding(IndexingWork(config=config, database_url=url, project_id=1))
    model = SentenceTransformer(str(embeddings_folder("bundled")), local_files_only=True)
    ours, bare = [], []
    for turn in range(turns + 1):
        ids = _sources(url, turn, texts)
        begun = time.perf_counter()
        rows = [row for table in stage(pa.table({"ids": [ids]})) for row in table.to_pylist()]
        taken = time.perf_counter() - begun
        assert [row["outcome"] for row in rows] == ["indexed"] * len(texts), rows
        begun = time.perf_counter()
        model.encode(passages, batch_size=32, normalize_embeddings=True, show_progress_bar=False)
        loop = time.perf_counter() - begun
        if turn or turns == 1:  # the first warms both up
            ours.append(sum(row["passages"] for row in rows) / taken)
            bare.append(len(passages) / loop)
            print(f"embedding: {ours[-1]:.1f} passages/s, bare {bare[-1]:.1f}", flush=True)
    stage.close()
    return median(ours), median(bare), _ratio(ours, bare), len(passages)


def _text(number: int) -> str:
    """Prose of many lengths, of real words."""
    chance = random.Random(number)
    words = _WORDS.split()
    sentences = (
        " ".join(chance.choices(words, k=chance.randint(5, 25))).capitalize() + "."
        for _ in range(chance.randint(5, 60))
    )
    return "\n\n".join(sentences)


def _sources(url: str, turn: int, texts: list[str]) -> list[int]:
    with psycopg.connect(url) as connection:
        connection.execute(
            """INSERT INTO projects (topic, name, created_by) VALUES ('macro', 'P', 'ann')
               ON CONFLICT DO NOTHING"""
        )
        found = []
        for number, text in enumerate(texts):
            row = connection.execute(
                """INSERT INTO sources (project_id, url, settled_at, text, text_sha256)
                   SELECT id, %s, now(), %s, md5(%s) FROM projects RETURNING id""",
                (f"https://example.com/{turn}/{number}", text, text),
            ).fetchone()
            assert row is not None
            found.append(int(row[0]))
    return found


def _vectors(count: int) -> Any:
    chance = numpy.random.default_rng(7)
    centres = chance.standard_normal((_CENTRES, _DIMENSIONS)).astype("f4")
    rows = centres[chance.integers(0, _CENTRES, count)]
    rows += 0.8 * chance.standard_normal(rows.shape).astype("f4")
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


def _building(kind: str, count: int, settings: Any, turns: int) -> tuple[float, float, float, float]:
    """Vectors/s of ours and of bare FAISS, their ratio, and the recall that was measured."""
    vectors = _vectors(count)
    ids: Any = numpy.arange(count, dtype=numpy.int64)
    ours, bare, recall = [], [], 0.0
    for _ in range(turns):
        begun = time.perf_counter()
        built = faiss_index.build(ids, vectors, settings, threads=1)
        ours.append(count / (time.perf_counter() - begun))
        assert built.kind == kind, built.kind
        recall = built.recall
        begun = time.perf_counter()
        _bare(kind, ids, vectors)
        bare.append(count / (time.perf_counter() - begun))
        print(f"building {kind}: {ours[-1]:.0f} vectors/s, bare {bare[-1]:.0f}", flush=True)
    return median(ours), median(bare), _ratio(ours, bare), recall


def _ratio(ours: list[float], bare: list[float]) -> float:
    """Of what was measured one after the other: the machine is busy for both."""
    return median(mine / theirs for mine, theirs in zip(ours, bare, strict=True))


def _bare(kind: str, ids: Any, vectors: Any) -> Any:
    import faiss

    faiss.omp_set_num_threads(1)
    index: Any
    if kind == "ivf":
        lists = min(int(4 * len(ids) ** 0.5), len(ids) // 39)
        flat = faiss.IndexFlatIP(_DIMENSIONS)
        index = faiss.IndexIVFFlat(flat, _DIMENSIONS, lists, faiss.METRIC_INNER_PRODUCT)
        index.train(vectors)
    else:
        graph = faiss.IndexHNSWFlat(_DIMENSIONS, _LINKS, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = _CARE
        index = faiss.IndexIDMap(graph)
    index.add_with_ids(vectors, ids)
    return index


async def _whole(url: str, config: Config, settings: Any, count: int) -> float:
    """Vectors/s of a segment that is read from Postgres, built, written, and put in place."""
    made_with = cutter_of(config).made_with
    [source] = _sources(url, 0, ["x"])
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE sources SET indexed_with = %s", (made_with,))
        with connection.cursor().copy(
            'COPY source_passages (project_id, source_id, start, "end", text, vector) FROM STDIN'
        ) as copy:
            for place, vector in enumerate(_vectors(count)):
                text = f"passage {place} of this source says something about subject {place % 977}. " * 10
                copy.write_row(
                    (1, source, place, place + 1, text, "\\x" + vector.astype("<f4").tobytes().hex())
                )
        connection.commit()
        connection.autocommit = True
        connection.execute("VACUUM ANALYZE source_passages")
    async with Database(url=url, pool_size=2) as database:
        builder = SegmentBuilder(settings=settings, database=database, made_with=made_with)
        begun = time.perf_counter()
        made = [segment async for segment in builder.build(1)]
        taken = time.perf_counter() - begun
    assert [segment.vectors for segment in made] == [count]
    return count / taken
