"""What a PDF holds: its text in parts, and its tables. Untrusted text, as it is printed.

Made by `actors.platform.tools.pdf`. The parts and tables are within what a resource may hold.
"""

from models.content.articles import Cell
from models.record import Record


class PdfTable(Record):
    """A table of a page (counted from 1). Its first row is `columns`; cells are as they are printed."""

    page: int
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


class PdfContents(Record):
    """A PDF, read. `url` is where it was in the end; `note` says what of it was left out.

    Each of `texts` has at most 1,000,000 characters, with a line `[page N]` before each page that has text.
    """

    url: str
    title: str
    pages: int
    texts: tuple[str, ...]
    tables: tuple[PdfTable, ...]
    note: str | None = None
