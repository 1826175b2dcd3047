"""Sentences about tables, in three languages, each computed again from the rows it names."""

import asyncio
import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from actors.platform.figures.table_figures import table_figures
from actors.platform.text.language import Language
from actors.systems.chat.agents.data_download import table_finding
from actors.systems.market.sample import Sample
from actors.systems.market.tables import Span
from benchmarks.quotations.recomputed import is_right, series_of
from models.config import Config
from models.content.articles import Cell
from models.content.drafting import Finding
from models.content.outside import DataKind

_KINDS: tuple[DataKind, ...] = ("equity", "economic", "fx", "treasury")
_LANGUAGES: tuple[Language, ...] = ("en", "pl", "de")
_TODAY = date(2100, 1, 1)
_PERCENT = re.compile(r"percent\b|per cent\b|\bpct\b|\bproc\b|\bprocent\b|\bprozent\b|%", re.IGNORECASE)


@dataclass
class Told:
    """How many sentences were told about how many tables, and those that are wrong."""

    tables: int = 0
    sentences: int = 0
    wrong: list[str] = field(default_factory=list)


async def _fetched(config: Config) -> list[Finding]:
    sample = Sample(config)
    ids = [(kind, one.series_id) for kind in _KINDS for one in sample.holdings(kind)]
    return [table_finding(await sample.fetch(kind, one, Span(), _TODAY)) for kind, one in ids]


def sample_tables(config: Config) -> list[Finding]:
    """The series in `configs/samples/market`, as drafting has them."""
    return asyncio.run(_fetched(config))


def tables_in(folder: Path) -> list[Finding]:
    """The CSV files of a folder, numbers as numbers."""
    found = []
    for path in sorted(folder.glob("*.csv")):
        columns, *rows = csv.reader(path.read_text(encoding="utf-8-sig").splitlines())
        finding = Finding(
            kind="table",
            name=path.stem,
            description=None,
            columns=tuple(columns),
            rows=tuple((row[0], *map(_cell, row[1:])) for row in rows),
            source=path.name,
        )
        found.append(finding)
    return found


def tell(tables: Iterable[Finding]) -> Told:
    """Say what there is to say about tables, in each language, and compute every sentence again."""
    told = Told()
    for table in tables:
        told.tables += 1
        rows, columns = table.rows or (), table.columns or ()
        for language in _LANGUAGES:
            for figure in table_figures(table.name, table.description, columns, rows, language):
                row, column = figure.cells[0]
                # Rows of the same texts are of the same series: one country, one symbol.
                own = [one for one in rows if _texts(one) == _texts(rows[row])]
                said = figure.sentence.rpartition(": ")[2]
                told.sentences += 1
                percent = _PERCENT.search(f"{columns[column]} {table.description or ''}") is not None
                if not is_right(said, series_of(own, column), language, percent=percent):
                    told.wrong.append(figure.sentence)
    return told


def _texts(row: tuple[Cell, ...]) -> list[Cell]:
    return [cell for cell in row[1:] if isinstance(cell, str)]


def _cell(text: str) -> Cell:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text or None
