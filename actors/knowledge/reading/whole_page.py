"""All of a page as Markdown, but for what stands around the text of every page: menus, footers and buttons.

`main_text` falls back to it for pages in which no main text stands out: a table, a list, a few lines.
"""

import re
from collections.abc import Iterator
from typing import Any

from models.text import word_list

_LEFT_OUT = frozenset(
    (
        *("script", "style", "noscript", "template", "head", "svg", "math", "iframe", "object", "canvas"),
        # Not forms: some servers put the whole page into one.
        *("nav", "footer", "aside", "button", "select", "textarea", "dialog", "audio", "video", "map"),
    )
)
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_BLOCKS = frozenset(
    word_list("""
        address article blockquote body caption center dd details div dl dt fieldset figcaption
        figure header hr html li main ol p pre section summary table tbody td th tr ul
    """)
) | frozenset(_HEADINGS)
_GAP = re.compile(r"\n{3,}")
_LIST_GAP = re.compile(r"\n\n(?=- )")
# Begins lines that stay as they are; no tree holds it.
_CODE = "\0"
_MOST_CELLS = 50_000


def whole_markdown(tree: Any) -> str:
    """The page's text, with its headings, lists, tables and code.

    Args:
        tree: an lxml tree of the page, no deeper than the parser lets trees be; it is not changed.
    """
    body = tree.find(".//body")
    parts = "".join(_block(tree if body is None else body))
    lines = (line[1:] if line.startswith(_CODE) else line.strip() for line in parts.split("\n"))
    return _LIST_GAP.sub("\n", _GAP.sub("\n\n", "\n".join(lines))).strip("\n")


def _block(element: Any) -> Iterator[str]:
    """What an element holds, its own tag among it, without its tail."""
    tag = element.tag
    if not isinstance(tag, str) or tag in _LEFT_OUT or element.get("hidden") is not None:
        return
    if tag == "pre":
        code = "".join(element.itertext()).strip("\n")
        lines = ("```", *code.split("\n"), "```")
        yield "\n\n" + "\n".join(_CODE + line for line in lines) + "\n\n" if code.strip() else ""
    elif tag == "table" and (rows := _rows(element)):
        yield "\n\n" + "\n".join(rows) + "\n\n"
    elif tag == "br":
        yield "\n"
    elif tag in _HEADINGS:
        text = " ".join("".join(_inside(element)).split())
        yield f"\n\n{_HEADINGS[tag]} {text}\n\n" if text else ""
    elif tag == "li":
        text = "".join(_inside(element)).strip()
        yield f"\n- {text}\n" if text else ""
    else:
        edge = ("\n" if tag in ("ul", "ol", "div", "dt", "dd") else "\n\n") if tag in _BLOCKS else ""
        yield edge
        yield from _inside(element)
        yield edge


def _inside(element: Any) -> Iterator[str]:
    yield _spaced(element.text)
    for child in element:
        yield from _block(child)
        yield _spaced(child.tail)


def _spaced(text: str | None) -> str:
    """White space as a browser shows it: a run of it is one space."""
    if not text:
        return ""
    return (" " if text[0].isspace() else "") + " ".join(text.split()) + (" " if text[-1].isspace() else "")


def _rows(table: Any) -> list[str]:
    """A table's rows; none where it holds another, or one column: then it is there for the looks."""
    if next(table.iterdescendants("table"), None) is not None:
        return []
    rows: list[list[str]] = []
    cells = 0
    for row in table.iter("tr"):
        found = [
            " ".join("".join(_inside(cell)).split()).replace("|", "\\|")
            for cell in row
            if cell.tag in ("td", "th")
        ]
        cells += len(found)
        if cells > _MOST_CELLS:
            break
        if any(found):
            rows.append(found)
    width = max((len(row) for row in rows), default=0)
    if width < 2:
        return []
    told = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    return [told[0], "|" + "---|" * width, *told[1:]]
