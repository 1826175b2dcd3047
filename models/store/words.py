"""Search by words, in Postgres' full text: any will do, whole or as a beginning; rare ones weigh more.

Called by `models.store.search`. A row's words lie outside the row and are slow to read, so rows are found
and weighed by the index alone, and only the best are read. Where even the rarest word is in too many
rows for that, the newest rows are read.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from models.content.search import FoundKind, Hit
from models.store.database import Connection
from models.text import storable

# The most matches of one search: more are not counted either.
MOST_MATCHES = 200
_QUERY_CHARACTERS = 1000
_QUERY_WORDS = 32
# Shorter words are looked for as they are: too many begin with them.
_PREFIX_CHARACTERS = 3
# About how many rows the index may find, all words of a query together.
_ROOM = 5_000
# In fewer rows than these, a word that is whole is told from one that only begins so.
_FEW = 2000
# How many of the newest rows are read where the index would find too many.
_NEWEST = 2000
# How many of the best are read to see where the words stand in them.
_RANKED = 100


class Table(NamedTuple):
    """Where `words` are searched, as SQL: `id` and `version` name a row.

    `seen` has a row where the caller may see row `f` (id, version); `newest` are all that he may. `own` is
    given where the row `r` itself says so: then it is asked of every row that is found, which costs least.
    """

    name: str
    kind: FoundKind
    id: str
    version: str
    seen: str
    newest: str
    own: str | None = None


class _Word(NamedTuple):
    """A word as Postgres reads it: quoted, whether longer ones count, and in about how many rows it is."""

    quoted: str
    begins: bool
    rows: float
    weight: float

    @property
    def query(self) -> str:
        """Finds it, and what it begins."""
        return f"{self.quoted}:*" if self.begins else self.quoted


async def find(
    connection: Connection, table: Table, query: str, parameters: Mapping[str, Any], limit: int
) -> list[Hit]:
    """At most `limit` rows with any of the words, best first; of a row's two versions, the newer.

    `parameters` are what the table's SQL names. Runs in a transaction of its own.
    """
    async with connection.transaction():
        words = await _read(connection, table, query)
        if not words:
            return []
        # The planner takes reading words for cheap; and starting workers takes longer than the search.
        await connection.execute(
            "SELECT set_config('enable_seqscan', 'off', true), "
            "set_config('max_parallel_workers_per_gather', '0', true)"
        )
        scans = _scans(words)
        cursor = await connection.execute(
            _statement(table, scans).encode(),
            dict(parameters)
            | {f"scan{n}": scan for n, (scan, _) in enumerate(scans)}
            | {"any": " | ".join(f"{word.quoted} | {word.query}" for word in words), "limit": limit},
            # A plan that is not made for these words may read every row.
            prepare=False,
        )
        rows = await cursor.fetchall()
    hits: dict[int, Hit] = {}
    for row in sorted(rows, key=lambda row: (-row["score"], -row["id"], -(row["version"] or 0))):
        known = hits.get(row["id"])
        if known is None:
            hits[row["id"]] = Hit(kind=table.kind, id=row["id"], version=row["version"], score=row["score"])
        elif row["version"] > (known.version or 0):
            hits[row["id"]] = known.model_copy(update={"version": row["version"]})
    return list(hits.values())


def clean(text: str) -> str:
    """A query as Postgres can read it: without what it cannot keep, and not too long; a NUL parts words."""
    return storable(text.replace("\0", " "))[:_QUERY_CHARACTERS]


async def _read(connection: Connection, table: Table, text: str) -> list[_Word]:
    """The words of a query, the rarest first. How rare one is, Postgres has counted (ANALYZE)."""
    cursor = await connection.execute(
        """
        WITH counted AS MATERIALIZED (
            SELECT elem, freq FROM pg_stats,
                   unnest(most_common_elems::text::text[], most_common_elem_freqs) AS counted(elem, freq)
            WHERE schemaname = current_schema() AND tablename = %(table)s AND attname = 'words'
              AND elem IS NOT NULL
        ), words AS (
            SELECT lexeme, length(lexeme) >= %(prefix)s AS begins
            FROM unnest(to_tsvector('simple', %(text)s)) ORDER BY positions[1], lexeme LIMIT %(words)s
        )
        SELECT lexeme, begins,
               (SELECT greatest(reltuples, 1) FROM pg_class WHERE oid = %(table)s::regclass) AS rows,
               (SELECT coalesce(sum(freq), 0) FROM counted
                WHERE elem = lexeme OR begins AND starts_with(elem, lexeme)) AS share
        FROM words
        """,
        {"table": table.name, "text": clean(text), "prefix": _PREFIX_CHARACTERS, "words": _QUERY_WORDS},
    )
    words = []
    for row in await cursor.fetchall():
        matching = row["rows"] * min(row["share"], 1.0)
        words.append(
            _Word(
                quoted="'" + row["lexeme"].replace("\\", "\\\\").replace("'", "''") + "'",
                begins=row["begins"],
                rows=matching,
                weight=math.log(1 + row["rows"] / (matching + 1)),
            )
        )
    return sorted(words, key=lambda word: word.rows)


def _scans(words: Sequence[_Word]) -> list[tuple[str, float]]:
    """What to look for in the index, and what each find weighs; nothing where it would find too much.

    The rarest words as long as there is room. Where some are left out, rows that have all of the words
    still get what those weigh.
    """
    scans: list[tuple[str, float]] = []
    room, left_out = float(_ROOM), 0.0
    for word in words:
        room -= word.rows
        if room < 0:
            left_out += word.weight
        elif word.begins and word.rows < _FEW:
            scans += [(word.query, word.weight / 2), (word.quoted, word.weight / 2)]
        else:
            scans.append((word.query, word.weight))
    if scans and left_out:
        scans.append((" & ".join(word.query for word in words), left_out))
    return scans


def _statement(table: Table, scans: Sequence[tuple[str, float]]) -> str:
    version = table.version.replace("version", "t.version")
    order = "ORDER BY score DESC, id DESC, version DESC"
    if scans:
        each = " UNION ALL ".join(
            f"SELECT {table.id} AS id, {table.version} AS version, {weight:.9f}::float8 AS score "
            f"FROM {table.name} r WHERE words @@ %(scan{n})s::tsquery"
            + (f" AND ({table.own})" if table.own else "")
            for n, (_, weight) in enumerate(scans)
        )
        if len(scans) > 1:
            each = f"SELECT id, version, sum(score) AS score FROM ({each}) AS each GROUP BY id, version"
        # Another table, which tells whether a row may be seen, is asked of the best only, one by one.
        asked = "" if table.own else f"CROSS JOIN LATERAL ({table.seen} OFFSET 0) AS seen"
        best = f"""
            found AS MATERIALIZED ({each}),
            best AS MATERIALIZED (SELECT f.* FROM (SELECT * FROM found {order}) AS f {asked}"""
    else:
        best = f"""
            newest AS MATERIALIZED ({table.newest} ORDER BY id DESC LIMIT {_NEWEST}),
            best AS MATERIALIZED (
                SELECT n.id, n.version, 1.0::float8 AS score FROM newest n
                CROSS JOIN LATERAL (
                    SELECT 1 FROM {table.name} t
                    WHERE t.{table.id} = n.id AND {version} IS NOT DISTINCT FROM n.version
                      AND t.words @@ %(any)s::tsquery OFFSET 0) AS matching"""
    return f"""
        WITH {best} {order} LIMIT %(limit)s),
        ranked AS MATERIALIZED (
            SELECT b.id, b.version, ts_rank(t.words, %(any)s::tsquery) AS rank
            FROM (SELECT * FROM best {order} LIMIT {_RANKED}) AS b
            JOIN {table.name} t ON t.{table.id} = b.id AND {version} IS NOT DISTINCT FROM b.version
        )
        SELECT b.id, b.version, b.score * (1 + coalesce(r.rank, 0)) AS score
        FROM best b LEFT JOIN ranked r ON r.id = b.id AND r.version IS NOT DISTINCT FROM b.version"""
