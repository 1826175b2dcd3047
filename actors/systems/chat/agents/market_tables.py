"""Figures for people: how a table of market data is shown, and how a series is fetched by a tool.

Called by the agent `data_download`. No model has a part in it: a figure is shown as the provider gave it.
"""

from typing import Any

from actors.platform.figures.table_figures import table_figures
from actors.platform.text.language import Language
from actors.platform.text.markdown import escaped
from actors.systems.market.exchange import split_pair
from actors.systems.market.known_series import CURVE
from models.content.articles import Cell
from models.content.drafting import SAMPLE
from models.content.outside import DataTable, SeriesInfo
from models.record import Record

_ROWS = 8
_COLUMNS = 8
_CELL = 40
_SENTENCES, _SENTENCE = 6, 500


class SeriesTable(Record):
    """A table as people see it: `rows` is a Markdown table of the newest, newest first.

    `told` are sentences about all of it, computed by code.
    """

    title: str
    unit: str | None
    latest: str | None
    told: tuple[str, ...]
    rows: str
    source: str
    sample: bool
    note: str | None


def tool_call(info: SeriesInfo) -> tuple[str, dict[str, Any]]:
    """The tool that fetches a series, and its arguments."""
    provider = {"provider": info.provider}
    if info.kind == "equity":
        return "fetch_equity_data", {"symbol": info.series_id, **provider}
    if info.kind == "economic":
        return "fetch_economic_data", {"series_id": info.series_id, **provider}
    if info.kind == "fx":
        base, quote = split_pair(info.series_id)
        return "fetch_fx_rates", {"base": base, "quote": quote, **provider}
    wanted = {} if info.series_id == CURVE else {"maturities": info.series_id.split(",")}
    return "fetch_treasury_yields", {**wanted, **provider}


def shown(table: DataTable, language: Language) -> SeriesTable:
    """A table, short: its newest rows, what was computed from all of them, and else the latest value."""
    columns = table.columns[:_COLUMNS]
    newest = sorted(table.rows, key=lambda row: str(row[0]) if row else "", reverse=True)
    full = [row for row in newest if any(cell is not None for cell in row[1:])]
    head = "| " + " | ".join(escaped(name, _CELL) for name in columns) + " |"
    rule = "|" + " --- |" * len(columns)
    lines = ["| " + " | ".join(_cell(cell) for cell in row[:_COLUMNS]) + " |" for row in full[:_ROWS]]
    found = table_figures(table.title, f"unit: {table.unit or ''}", table.columns, table.rows, language)
    return SeriesTable(
        title=escaped(table.title),
        unit=escaped(table.unit) if table.unit else None,
        latest=_latest(table, full[0]) if full and not found else None,
        told=tuple(escaped(figure.sentence, _SENTENCE) for figure in found[:_SENTENCES]),
        rows="\n".join([head, rule, *lines]),
        source=escaped(table.source),
        sample=table.source == SAMPLE,
        note=escaped(table.note, 600) if table.note else None,
    )


def _latest(table: DataTable, row: tuple[Cell, ...]) -> str:
    values = [
        f"{escaped(name, _CELL)} {_cell(cell)}"
        for name, cell in list(zip(table.columns, row, strict=False))[1:_COLUMNS]
        if cell is not None
    ]
    told = _cell(row[1]) if len(table.columns) == 2 else ", ".join(values)
    unit = f" {escaped(table.unit)}" if table.unit and len(table.columns) == 2 else ""
    return f"{told}{unit} on {_cell(row[0])}"


def _cell(cell: Cell) -> str:
    if cell is None:
        return "–"
    return f"{cell:,.10g}" if isinstance(cell, float) else escaped(str(cell), _CELL)
