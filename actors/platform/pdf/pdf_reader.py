"""Reads one PDF in a process of its own: bytes on stdin, JSON on stdout. Started by `pdf` beside it.

A PDF is a program of strangers for a dozen decoders, so it is run where it can be killed, with little memory
and no file to write to. It imports nothing of ours but `pdf_fonts`, `pdf_strikes`, `pdf_signs`, `pdf_words`,
`pdf_rows`, `pdf_layout` and `pdf_pages`: what of a page is read, in which order. It is started by its path.
"""

import importlib.util
import io
import json
import logging
import math
import re
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

_MEMORY = 1024**3
_MOST_TEXT = 3_000_000
# Of one page: bytes of its contents, texts that it shows, bytes of what is painted.
_MOST_CONTENTS, _MOST_SHOWN, _MOST_PAINTED = 20_000_000, 200_000, 2_000_000
_MOST_TABLES = 40
# Of one table, as of every table resource.
_MOST_COLUMNS, _MOST_ROWS, _MOST_CELLS = 200, 50_000, 200_000
_MOST_TABLE_TEXT = 3_000_000
_LONGEST_CELL, _LONGEST_COLUMN = 2000, 255
_HOLE_LINE = re.compile(r"^\ufffc\n(?=.)", re.MULTILINE)
# Of what was left out, in a note.
_SHOWN = 60
# Shares of the time; the rest is for telling.
_TEXT_UNTIL, _TABLES_UNTIL = 0.6, 0.85


class _Unreadable(Exception):
    """What keeps the whole document from being read."""


class _TimeUp(BaseException):
    """The alarm. Not an Exception: the decoders swallow those."""


class _Reading:
    """The document as far as it has been read."""

    def __init__(self, data: bytes, most_pages: int, seconds: float) -> None:
        self._data = data
        self._most_pages = most_pages
        self._begun = time.monotonic()
        self._seconds = seconds
        self._faulty: list[int] = []
        self._unseen: dict[int, str] = {}
        self._struck: dict[int, str] = {}
        self._lines: list[tuple[int, list[str]]] = []
        self.title = ""
        self.pages = 0
        self.texts: list[tuple[int, str]] = []
        self.tables: list[dict[str, Any]] = []
        self.notes: list[str] = []

    def within(self, share: float, read: Callable[[], None], what: str) -> None:
        """Read until a share of the time is gone, and note where that was."""
        signal.signal(signal.SIGALRM, _ring)
        left = self._begun + share * self._seconds - time.monotonic()
        try:
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001))
            read()
        except _TimeUp:
            self.notes.append(f"{what} not read whole in time (outside.pdf.timeout_seconds)")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def read_texts(self) -> None:
        """The title and each page's text."""
        import pypdfium2
        from pypdf import PdfReader
        from pypdf.errors import LimitReachedError

        reader = PdfReader(io.BytesIO(self._data))
        # Many that only forbid printing open with the empty password.
        if reader.is_encrypted and not reader.decrypt(""):
            raise _Unreadable("encrypted")
        self.pages = len(reader.pages)
        self.title = _title(reader)
        if self.pages > self._most_pages:
            self.notes.append(
                f"only the first {self._most_pages} of {self.pages} pages were read (outside.pdf.max_pages)"
            )
        document = pypdfium2.PdfDocument(self._data)
        left, too_large, fonts = _MOST_TEXT, False, _beside("pdf_fonts").FontDoubts()
        for number in range(1, min(self.pages, self._most_pages) + 1):
            try:
                size = _look_at(reader.pages[number - 1])
                doubts = fonts.of(reader.pages[number - 1])
                lines = self._page_lines(
                    number, document[number - 1], doubts, is_painted=size < _MOST_PAINTED
                )
            except MemoryError:
                raise
            except Exception as error:  # noqa: BLE001  # a page is broken in any way; the others still count
                too_large = too_large or isinstance(error, LimitReachedError)
                self._faulty.append(number)
                continue
            if lines:
                self._lines.append((number, lines))
            left -= sum(map(len, lines))
            if left < 0:
                self.notes.append(f"the text is cut at {_MOST_TEXT:,} characters, on page {number}")
                break
        if self._faulty:
            self.notes.append(f"pages that can't be read: {_listed(self._faulty)}")
        if not self._lines:
            faulty = "too_large" if too_large else "broken"
            raise _Unreadable(faulty if self._faulty else "without_text")

    def _page_lines(
        self, number: int, page: Any, doubts: dict[str, frozenset[str]], *, is_painted: bool
    ) -> list[str]:
        """The lines of a page that a reader sees, in each direction for itself."""
        seen = _beside("pdf_signs").signs_of(
            page, _beside("pdf_strikes").Strikes(page), doubts, is_painted=is_painted
        )
        if seen.unseen:
            self._unseen[number] = seen.unseen
        if seen.struck:
            self._struck[number] = seen.struck
        lines: list[str] = []
        for signs in seen.turns:
            _beside("pdf_words").set_words(signs)
            told = _beside("pdf_layout").lines_of(_beside("pdf_rows").rows_of(signs))
            lines.extend(["", *told] if lines and told else told)
        return lines

    def settle_texts(self) -> None:
        """Each page's text, of what was read of it, without what stands on every page."""
        beside = _beside("pdf_pages")
        pages, gone = beside.without_running_lines([lines for _, lines in self._lines])
        pages, broken = beside.with_whole_words(pages)
        left = _MOST_TEXT
        numbers = [number for number, _ in self._lines]
        for number, lines in beside.with_open_beginnings(list(zip(numbers, pages, strict=True))):
            # A hole in a line of its own would be one by itself: it is of what it stands before.
            if text := _HOLE_LINE.sub("\ufffc ", "\n".join(lines).strip())[:left]:
                self.texts.append((number, text))
                left -= len(text)
        if gone:
            shown = ", ".join(f"“{line[:_SHOWN]}”" for line in list(dict.fromkeys(gone))[:3])
            self.notes.append(f"lines at the edges of pages that repeat: {len(gone)} left out, as {shown}")
        for what, left_out in (("can't be seen", self._unseen), ("are struck out", self._struck)):
            if left_out:
                first = next(iter(left_out.values()))[:_SHOWN]
                self.notes.append(
                    f"words that {what} were left out, on pages {_listed([*left_out])}, as “{first}”"
                )
        if broken:
            self.notes.append(f"words broken at ends of lines that may have a hyphen: {broken}")

    def read_tables(self) -> None:
        """The ruled tables of each page whose text could be read."""
        import pdfplumber

        left, faulty = _MOST_TABLE_TEXT, []
        count = min(self.pages, self._most_pages)
        numbers = [number for number in range(1, count + 1) if number not in self._faulty]
        with pdfplumber.open(io.BytesIO(self._data), pages=numbers, password="") as document:
            for page in document.pages:
                try:
                    found = page.extract_tables()
                except MemoryError:
                    raise
                except Exception:  # noqa: BLE001  # tables of a broken page fail in any way; the others count
                    faulty.append(page.page_number)
                    continue
                finally:
                    page.close()
                for raw in found:
                    table, cut = _table(raw)
                    if table is None:
                        continue
                    size = sum(len(cell or "") for row in table["rows"] for cell in row)
                    if len(self.tables) == _MOST_TABLES or size > left:
                        self.notes.append(f"tables from page {page.page_number} on were left out: too many")
                        return
                    left -= size
                    self.tables.append({"page": page.page_number, **table})
                    if cut:
                        self.notes.append(f"a table of page {page.page_number} was too large and was cut")
        if faulty:
            self.notes.append(f"pages whose tables can't be read: {_listed(faulty)}")


def _look_at(page: Any) -> int:
    """Unpack what a page holds before PDFium does, which has no limit; its bytes."""
    from pypdf.errors import LimitReachedError

    contents = page.get_contents()
    data = contents.get_data() if contents is not None else b""
    if len(data) > _MOST_CONTENTS or data.count(b"Tj") + data.count(b"TJ") > _MOST_SHOWN:
        raise LimitReachedError("a page holds more than is read")
    return len(data)


def _beside(name: str) -> ModuleType:
    """A module beside this one: it is started by its path, and finds none by name."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def _ring(*_: object) -> NoReturn:
    raise _TimeUp


def _title(reader: Any) -> str:
    try:
        return str((reader.metadata and reader.metadata.title) or "")[:1000]
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  # a document may be read without it
        return ""


def _listed(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:10]))
    return shown + (f" and {len(numbers) - 10} more" if len(numbers) > 10 else "")


def _table(raw: list[list[str | None]]) -> tuple[dict[str, Any] | None, bool]:
    """A table whose first row names its columns, and whether it was cut; None where it is only a frame."""
    rows = [[" ".join((cell or "").split())[:_LONGEST_CELL] for cell in row] for row in raw]
    rows = [row for row in rows if any(row)]
    width = max((len(row) for row in rows), default=0)
    if len(rows) < 2 or width < 2:
        return None, False
    kept = min(width, _MOST_COLUMNS)
    padded = [[*row, *[""] * (width - len(row))][:kept] for row in rows]
    columns = [name[:_LONGEST_COLUMN] or f"column {place}" for place, name in enumerate(padded[0], 1)]
    most = min(_MOST_ROWS, _MOST_CELLS // kept)
    body = [[cell or None for cell in row] for row in padded[1 : most + 1]]
    return {"columns": columns, "rows": body}, kept < width or most < len(rows) - 1


def read(data: bytes, most_pages: int, seconds: float) -> dict[str, Any]:
    """What the document holds, or `fault`: `encrypted`, `without_text`, `broken`, `too_large` or `late`."""
    reading = _Reading(data, most_pages, seconds)
    try:
        reading.within(_TEXT_UNTIL, reading.read_texts, "the text was")
    except MemoryError:
        return {"fault": "too_large"}
    except _Unreadable as error:
        return {"fault": str(error)}
    except Exception as error:  # noqa: BLE001  # a broken document fails in any way
        return {"fault": "broken", "detail": f"{type(error).__name__}: {error}"[:300]}
    reading.settle_texts()
    if not reading.texts:
        return {"fault": "late"}
    try:
        reading.within(_TABLES_UNTIL, reading.read_tables, "its tables were")
    except Exception as error:  # noqa: BLE001  # as above; the text is there
        reading.notes.append(f"its tables can't be read ({type(error).__name__})")
    return {
        "title": reading.title,
        "pages": reading.pages,
        "texts": reading.texts,
        "tables": reading.tables,
        "notes": reading.notes,
    }


def main() -> None:
    """Called with the most pages to read, and the seconds that there are."""
    most_pages, seconds = int(sys.argv[1]), float(sys.argv[2])
    processor = math.ceil(seconds) + 1
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    # Whoever started us may be gone when the time is up.
    resource.setrlimit(resource.RLIMIT_CPU, (processor, processor))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    logging.disable()
    told = json.dumps(read(sys.stdin.buffer.read(), most_pages, seconds), ensure_ascii=False)
    # Halves of surrogate pairs, which some documents spell, become question marks.
    sys.stdout.buffer.write(told.encode(errors="replace"))


if __name__ == "__main__":
    main()
