"""The main text of a page as Markdown, and what the page says of itself: by trafilatura, with our settings.

Called in the readers of pages (`reading_pool`), for HTML of strangers: it may take long, and much memory. Of
a discussion the posts are the text; what a shop says of its product to machines is added where its page does
not show it; a page in which nothing stands out is given whole, rather than empty.
"""

import re
from collections.abc import Sequence
from copy import deepcopy
from datetime import date
from typing import Any
from unicodedata import normalize

from lxml.etree import SubElement, strip_tags
from lxml.html import Element
from trafilatura import bare_extraction
from trafilatura.baseline import block_text
from trafilatura.settings import Document
from trafilatura.utils import load_html

from actors.knowledge.reading.charsets import decoded
from actors.knowledge.reading.genres import is_discussion
from actors.knowledge.reading.json_ld import Node, nodes_of
from actors.knowledge.reading.page_links import links_of
from actors.knowledge.reading.product_facts import product_of
from actors.knowledge.reading.thread_posts import Post, posts_of
from actors.knowledge.reading.whole_page import whole_markdown
from actors.text.text_language import language_of_text
from models.errors import DocumentUnreadable
from models.knowledge.pages import PageText
from models.text import seen, shortened

# A main text shorter than this may be none: a list, a table or a short page as a whole is tried, too.
_SHORT = 250
_MUCH_MORE = 3
_LONGEST_TITLE, _LONGEST_AUTHOR = 500, 200
# A single post that is shorter may be anything.
_LEAST_POST = 100
_GAP = re.compile(r"\n{3,}")
_RAISED, _LOWERED = (
    str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"),
    str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋"),
)


def read_html(body: bytes, *, url: str, content_type: str | None) -> PageText:
    """What is in a page.

    Args:
        body: its bytes, unpacked.
        url: where it was read in the end, after all redirects: the base of its links.
        content_type: the header, with the charset if it names one.

    Raises:
        DocumentUnreadable: nothing can be made of it.
    """
    tree = _tree(decoded(body, content_type))
    if tree is None:
        return PageText(text="", title=None, author=None, date=None, language=None, links=())
    try:
        return _read(tree, url)
    except (RecursionError, AssertionError, ValueError, TypeError, AttributeError, LookupError) as error:
        raise DocumentUnreadable(f"the page can't be read: {type(error).__name__} in its HTML") from error


def _read(tree: Any, url: str) -> PageText:
    nodes = nodes_of(tree)
    _raise_digits(tree)
    found = _extracted(tree, url=url, with_metadata=True, date_extraction_params=_dates())
    text = found.text or ""
    if posts := _posts(tree, nodes, url):
        text = _extracted(_page_of(posts), favor_recall=True).text or ""
    elif is_discussion(tree, nodes, url):
        text = _with_comments(tree)
    elif len(text) < _SHORT or _is_dump(found):
        text = _whole(tree, found)
    if not posts and (product := product_of(tree, nodes)):
        text = "\n\n".join(part for part in (product.missing_from(text), text) if part)
    text = _tidy(text)
    return PageText(
        text=text,
        title=shortened(found.title or _title(tree), _LONGEST_TITLE) or None,
        author=shortened(found.author or "", _LONGEST_AUTHOR) or None,
        date=_day(found.date),
        language=language_of_text(text),
        links=links_of(tree, url),
    )


def _extracted(tree: Any, *, comments: bool = False, **options: Any) -> Document:
    """What trafilatura makes of a page, with its formatting as Markdown; an empty document for nothing."""
    found = bare_extraction(tree, include_comments=comments, include_formatting=True, **options)
    return found if isinstance(found, Document) else Document()


def _tree(html: str) -> Any:
    """The page's tree; None where it holds nothing at all."""
    if not html.strip():
        return None
    tree = load_html(html)
    # What has no tags around it is a page all the same.
    return tree if tree is not None else load_html(f"<html><body>{html}</body></html>")


def _posts(tree: Any, nodes: Sequence[Node], url: str) -> list[Post]:
    """The posts, if the page is a discussion whose posts are marked."""
    posts = posts_of(tree) if is_discussion(tree, nodes, url) else []
    return posts if len(posts) > 1 or sum(len(block_text(post.body)) for post in posts) >= _LEAST_POST else []


def _with_comments(tree: Any) -> str:
    """A discussion whose posts nothing marks: they are taken for comments, or for the text."""
    found = _extracted(tree, comments=True)
    return "\n\n".join(part for part in (found.text, found.comments) if part)


def _page_of(posts: list[Post]) -> Any:
    """A page of nothing but the posts, without the classes by which they would be taken for comments."""
    page = Element("html")
    article = SubElement(SubElement(page, "body"), "article")
    for post in posts:
        if post.author:
            line = SubElement(article, "p")
            SubElement(line, "b").text = post.author
            line[0].tail = f", {post.date}" if post.date else None
        said = deepcopy(post.body)
        said.tag, said.tail = "div", None
        for element in said.iter():
            for name in ("class", "id", "style", "itemprop", "hidden"):
                element.attrib.pop(name, None)
        article.append(said)
    return page


def _whole(tree: Any, found: Document) -> str:
    """More of a page of which little was found to be its text: what a wider search finds, or all of it."""
    text = _but_for_dumps(found)
    if len(text) < _SHORT:
        wider = _but_for_dumps(_extracted(tree, favor_recall=True))
        text = wider if len(wider) > _MUCH_MORE * len(text) else text
    whole = whole_markdown(tree)
    if not text:
        # What trafilatura gives then is sometimes of the page's data, and more than the page itself shows.
        dump = found.text or ""
        return whole if whole and len(dump) <= max(2 * _SHORT, 2 * len(whole)) else dump
    # Of a long page all would be menus and the like, around a text that is short and good.
    return whole if len(text) <= 2 * len(whole) and len(whole) <= _MUCH_MORE * len(text) else text


def _but_for_dumps(found: Document) -> str:
    """The text, unless it is none: then trafilatura gives one paragraph of all lines there are."""
    return "" if _is_dump(found) else found.text or ""


def _is_dump(found: Document) -> bool:
    body = found.body
    return body is not None and len(body) == 1 and body[0].tag == "p" and "\n" in (body[0].text or "")


def _tidy(text: str) -> str:
    plain = normalize("NFC", seen(text))
    return _GAP.sub("\n\n", "\n".join(line.rstrip() for line in plain.split("\n"))).strip("\n")


def _raise_digits(tree: Any) -> None:
    """Raised and lowered numbers in characters of their own: 10⁶ is not 106, and Markdown has no sign."""
    for tag, digits in (("sup", _RAISED), ("sub", _LOWERED)):
        for element in tree.iter(tag):
            text = "".join(element.itertext()).strip()
            if 0 < len(text) <= 4 and text.isascii() and text.lstrip("+-").isdigit():
                element.text = text.translate(digits)
                for child in list(element):
                    element.remove(child)
    strip_tags(tree, "sup", "sub")


def _title(tree: Any) -> str:
    element = tree.find(".//title")
    return "" if element is None else str(element.text or "")


def _dates() -> dict[str, Any]:
    """Days that the page states as its own. A wider search finds any day of its text, and is often wrong."""
    return {"original_date": True, "extensive_search": False, "max_date": date.today().isoformat()}


def _day(written: str | None) -> str | None:
    try:
        return date.fromisoformat(written).isoformat() if written else None
    except ValueError:
        return None
