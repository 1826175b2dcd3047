"""What there is to say of a table: its figures, each as a sentence with the cells that it was computed from.

Called by whoever writes in quotations. Of one series how its newest value has changed over the year and over
the period, its extremes and its average; of several the newest value of each.
"""

from collections.abc import Sequence

from actors.platform.figures.figure_sentences import figure_sentence
from actors.platform.figures.figures import Figure, FigureKind, figures
from actors.platform.figures.series import TimeSeries, series_in
from actors.platform.text.language import Language
from models.content.articles import Cell
from models.record import Record

# Each says where a series stands; the latest value alone only where there is no change of it.
_CHANGES: tuple[FigureKind, ...] = ("change_year", "change_period")
_BESIDE: tuple[FigureKind, ...] = ("highest", "lowest", "average")


class TableFigure(Record):
    """A figure in words. `cells` are those that it was computed from: row and column, both from 0."""

    sentence: str
    cells: tuple[tuple[int, int], ...]


def table_figures(
    name: str,
    description: str | None,
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    language: Language,
) -> list[TableFigure]:
    """The figures of a table, what matters most first; none of one without dates or numbers."""
    found = series_in(columns, rows, name=name, description=description)
    told = [_told(series, whole=len(found) == 1) for series in found]
    return [
        TableFigure(
            sentence=figure_sentence(figure, language, name=None if place else figure.series),
            cells=tuple((cell.row, cell.column) for cell in figure.cells),
        )
        for series in told
        for place, figure in enumerate(series)
    ]


def _told(series: TimeSeries, *, whole: bool) -> list[Figure]:
    by_kind = {figure.kind: figure for figure in figures(series)}
    newest = [by_kind["latest"]] if by_kind else []
    changes = [by_kind[kind] for kind in _CHANGES if kind in by_kind] or newest
    if not whole:
        return changes[:1]
    return [*changes, *(by_kind[kind] for kind in _BESIDE if kind in by_kind)]
