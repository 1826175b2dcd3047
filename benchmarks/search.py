"""search: hybrid search over 100,000 passages, without the embedding call and without Ray.

A database of 10,000 articles and 10,000 resources, five passages each, in four topics; half of the
articles are published, each resting on one resource. Words follow Zipf's law; vectors (384 numbers) lie
around 2,000 centres, as texts on one subject do. A search is `HybridSearch` over Postgres and the search
index in one process, as an analyst of all topics and as a reader of one; the query's vector is handed
over. Queries take the words and the vector of a passage, both with noise.

The peer is exact search: every 32-bit vector compared with the query (FAISS IndexFlatIP) for what the
same caller may see; recall@10 is the share of its ten best passages that the index finds.
Aim: p95 of a hybrid search ≤ 30 ms, recall@10 ≥ 0.95.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from typing import Any

import numpy
import psycopg
from psycopg.types.json import Jsonb

from actors.platform.search.article_index import SearchIndex
from actors.platform.search.hybrid import HybridSearch
from benchmarks.harness.bench import Bench
from benchmarks.harness.figures import median, ms, percentile
from benchmarks.harness.report import Aim, Report, Table
from models.content.search import reach_of
from models.people.scopes import Scope, parse_scope
from models.store.database import Database

_TOPICS = ("macro", "equity", "fixed_income", "esg")
_DIMENSIONS, _CENTRES, _EACH, _VOCABULARY = 384, 2000, 5, 20_000
_AIM_SECONDS, _AIM_RECALL = 0.030, 0.95
_CALLERS = {"analyst of all topics": "global:analyst", "reader of one topic": "macro:reader"}


class Queries:
    """The embedding model of this benchmark: it knows the vector of each query already."""

    def __init__(self) -> None:
        self.vectors: dict[str, Any] = {}

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors handed over; no time passes."""
        return [self.vectors[text].tolist() for text in texts]


def measure(bench: Bench) -> Report:
    """Fill a database, then search it."""
    machine = bench.machine("faiss-cpu", "psycopg", "numpy")
    count, searches = (1000, 40) if bench.quick else (10_000, 400)
    with bench.database() as url:
        corpus = _fill(url, count)
        _, config = bench.configure()
        rows, worst, recalls = asyncio.run(_search_all(url, config, corpus, searches))
    recall = min(recalls)
    return Report(
        name="search",
        measured=f"{count * 2 * _EACH:,} passages; {searches} searches of each kind, one after another, "
        "after 20 that do not count. Times in milliseconds.",
        machine=machine,
        tables=[Table("hybrid search", ("what", "who", "p50", "p95", "largest", "recall@10"), rows)],
        aims=[
            Aim("p95 of a hybrid search ≤ 30 ms", worst <= _AIM_SECONDS, f"{ms(worst)} ms, the slowest kind"),
            Aim("recall@10 against exact search ≥ 0.95", recall >= _AIM_RECALL, f"{recall:.3f}, the lowest"),
        ],
        notes=["The hop to the agent `search_index` and the embedding of the query come on top."],
    )


def _fill(url: str, count: int) -> dict[str, Any]:
    """Write articles, resources and passages; what was written, by passage."""
    chance, words = random.Random(7), numpy.random.default_rng(7)
    centres = words.standard_normal((_CENTRES, _DIMENSIONS)).astype("f4")
    ranks = numpy.arange(1, _VOCABULARY + 1)
    shares = (1 / ranks) / (1 / ranks).sum()
    texts: list[str] = []
    kinds, topics, published, vectors = [], [], [], []

    def passages(topic: str, kind: str, shown: bool) -> list[str]:
        mine = []
        centre = chance.randrange(_CENTRES)
        for _ in range(_EACH):
            chosen = words.choice(_VOCABULARY, size=60, p=shares)
            mine.append(" ".join(f"w{number:05d}" for number in chosen))
            vector = centres[centre] + 0.6 * words.standard_normal(_DIMENSIONS).astype("f4")
            vectors.append(vector / numpy.linalg.norm(vector))
            kinds.append(kind)
            topics.append(topic)
            published.append(shown)
        texts.extend(mine)
        return mine

    with psycopg.connect(url) as connection:
        cursor = connection.cursor()
        owners: list[tuple[int | None, int | None, int | None, int, str]] = []
        for number in range(1, count + 1):
            topic, shown = chance.choice(_TOPICS), number % 2 == 0
            mine = passages(topic, "article", shown)
            cursor.execute(
                """INSERT INTO articles (topic, status, version, published_version, author)
                   VALUES (%s, %s, 1, %s, 'ann')""",
                (topic, "published" if shown else "draft", 1 if shown else None),
            )
            cursor.execute(
                """INSERT INTO article_versions (article_id, version, headline, content, written_by,
                                                 indexed_with)
                   VALUES (%s, 1, %s, %s, 'ann', 'all-minilm-l6-v2')""",
                (number, mine[0][:60], "\n".join(mine)),
            )
            owners += [(number, 1, None, place, text) for place, text in enumerate(mine)]
            table = number % 5 == 0
            mine = passages(topic, "table" if table else "text", shown)
            cursor.execute(
                """INSERT INTO resources (kind, name, topic, content, columns, rows, digest, created_by,
                                          indexed_with, published_in)
                   VALUES (%s, %s, %s, %s, %s, %s, 'd', 'ann', 'all-minilm-l6-v2', %s)""",
                (
                    "table" if table else "text",
                    mine[0][:60],
                    topic,
                    "\n".join(mine),
                    Jsonb(["a"]) if table else None,
                    Jsonb([]) if table else None,
                    [topic] if shown else [],
                ),
            )
            cursor.execute("INSERT INTO article_resources VALUES (%s, 1, %s, 0)", (number, number))
            owners += [(None, None, number, place, text) for place, text in enumerate(mine)]
        with cursor.copy(
            "COPY passages (article_id, version, resource_id, place, text, vector) FROM STDIN"
        ) as copy:
            for (article, version, resource, place, text), vector in zip(owners, vectors, strict=True):
                copy.write_row(
                    (article, version, resource, place, text, "\\x" + vector.astype("<f4").tobytes().hex())
                )
        connection.commit()
        connection.autocommit = True
        connection.execute("VACUUM ANALYZE")
    return {
        "texts": texts,
        "kinds": numpy.asarray(kinds),
        "topics": numpy.asarray(topics),
        "published": numpy.asarray(published),
        "vectors": numpy.stack(vectors),
    }


async def _search_all(
    url: str, config: Any, corpus: dict[str, Any], searches: int
) -> tuple[list[list[str]], float, list[float]]:
    queries = Queries()
    settings = config.article_generation.knowledge_base
    index = SearchIndex(
        settings=settings,
        embedding=config.embedding,
        search=config.search,
        database_url=url,
        embedder=queries,
    )
    rows, recalls, worst = [], [], 0.0
    async with Database(url=url, pool_size=config.database.pool_size) as database:
        hybrid = HybridSearch(database=database, semantic=index, settings=config.search)
        async with asyncio.timeout(300):
            while not await index.caught_up():  # noqa: ASYNC110  # the database says so
                await asyncio.sleep(0.5)
        for what in ("articles", "resources"):
            for who, scope in _CALLERS.items():
                scopes = (parse_scope(scope),)
                taken, recall = await _searches(
                    hybrid, index, queries, corpus, what, scopes, searches, settings.min_score
                )
                p95 = percentile(taken, 95)
                worst = max(worst, p95)
                recalls.append(recall)
                rows.append([what, who, ms(median(taken)), ms(p95), ms(max(taken)), f"{recall:.3f}"])
                print(rows[-1], flush=True)
        await index.close()
    return rows, worst, recalls


async def _searches(
    hybrid: HybridSearch,
    index: SearchIndex,
    queries: Queries,
    corpus: dict[str, Any],
    what: str,
    scopes: tuple[Scope, ...],
    count: int,
    least: float,
) -> tuple[list[float], float]:
    """Seconds of each search, and the share of the ten nearest texts (of cosine `least`) that were found."""
    import faiss

    chance, noise = random.Random(11), numpy.random.default_rng(11)
    kinds = ("article",) if what == "articles" else ("text", "table")
    reader = not any(scope.is_global for scope in scopes)
    seen = numpy.isin(corpus["kinds"], kinds)
    if reader:
        seen &= corpus["published"] & (corpus["topics"] == scopes[0].topic)
    elif what == "articles":
        seen &= corpus["published"]
    visible = numpy.flatnonzero(seen)
    exact = faiss.IndexFlatIP(_DIMENSIONS)
    exact.add(corpus["vectors"][visible])
    taken, right, wanted = [], 0, 0
    for number in range(count + 20):
        passage = int(visible[chance.randrange(len(visible))])
        words = corpus["texts"][passage].split()
        query = " ".join(chance.sample(words, 5)) + f" q{number}"
        vector = corpus["vectors"][passage] + 0.03 * noise.standard_normal(_DIMENSIONS).astype("f4")
        vector /= numpy.linalg.norm(vector)
        queries.vectors[query] = vector
        begun = time.perf_counter()
        if what == "articles":
            await hybrid.articles(query, topics=None, scopes=scopes, include_drafts=False, limit=10)
        else:
            await hybrid.resources(query, kinds=frozenset(kinds), topics=None, scopes=scopes, limit=10)
        seconds = time.perf_counter() - begun
        if number < 20:
            continue
        taken.append(seconds)
        hits = await index.search(
            query, kinds=kinds, topics=None, reach=reach_of(scopes), include_drafts=False, limit=10
        )
        scores, nearest = exact.search(vector[None, :], 100)
        near = [int(visible[n]) for n, score in zip(nearest[0], scores[0], strict=True) if score >= least]
        owners = list(dict.fromkeys(passage // _EACH for passage in near))[:10]
        # Passages are written article, resource, article, …: five of each.
        found = {(hit.id - 1) * 2 + (hit.kind == "resource") for hit in hits}
        right += len(found & set(owners))
        wanted += len(owners)
    return taken, right / wanted
