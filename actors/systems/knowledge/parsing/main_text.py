"""The main text of a page as Markdown, and what the page says of itself: trafilatura finds it, we write it.

Called in the readers of pages (`reading_pool`), for HTML of strangers: it may take long, and much memory.
Trafilatura says which parts of the page are its text; what stands among them is, too (`parts.choosing`), and
`parts.page_markdown` says in which form; comments of readers are not. Of a discussion the posts are the text;
what a shop says of its product to machines is added where its page does not show it; where nothing stands out
the page is given whole.
"""

import re
from collections.abc import Sequence
from itertools import chain
from typing import Any
from unicodedata import normalize

from lxml.etree import strip_tags
from trafilatura import bare_extraction
from trafilatura.baseline import block_text
from trafilatura.settings import Document
from trafilatura.utils import load_html

from actors.platform.text.text_language import language_of_text
from actors.systems.knowledge.parsing.charsets import decoded
from actors.systems.knowledge.parsing.days.page_day import day_of
from actors.systems.knowledge.parsing.genres import is_discussion
from actors.systems.knowledge.parsing.json_ld import Node, nodes_of
from actors.systems.knowledge.parsing.page_links import links_of
from actors.systems.knowledge.parsing.parts.choosing import choose, choose_all, held_in, regain, share_shown
from actors.systems.knowledge.parsing.parts.comments import take_comments
from actors.systems.knowledge.parsing.parts.page_markdown import page_markdown
from actors.systems.knowledge.parsing.parts.page_parts import PageBlock, parts_of
from actors.systems.knowledge.parsing.parts.quotations import marked
from actors.systems.knowledge.parsing.parts.settling import settle
from actors.systems.knowledge.parsing.parts.text_notes import keep_notes
from actors.systems.knowledge.parsing.parts.unscripted import show_unscripted, unscripted_parts
from actors.systems.knowledge.parsing.product_facts import product_of
from actors.systems.knowledge.parsing.thread_posts import Post, posts_of
from models.errors import DocumentUnreadable
from models.knowledge.pages import PageCoverage, PageText
from models.text import seen, shortened

# A main text shorter than this may be none: a list, a table or a short page as a whole is tried, too.
_SHORT = 250
_MUCH_MORE = 3
# Of what is found so much at least stands on the page; or it was made of data that the page holds.
_SHOWN = 0.5
# Days are read by `page_day`: this is the cheapest search that there is.
_NO_DAY: dict[str, Any] = {"original_date": True, "extensive_search": False}
_LONGEST_TITLE, _LONGEST_AUTHOR = 500, 200
# A single post that is shorter may be anything.
_LEAST_POST = 100
_GAP = re.compile(r"\n{3,}")

_MOST_LISTED, _LONGEST = 20, 160
# Shorter ones are labels and buttons.
_LEAST_LISTED = 20


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
    nodes, links = nodes_of(tree), links_of(tree, url)
    day = day_of(tree, nodes, url)
    show_unscripted(tree)
    settle(tree)
    posts = _posts(tree, nodes, url)
    said = _text_of_posts(posts)
    is_talk = bool(posts) or is_discussion(tree, nodes, url)
    comments = [] if is_talk else take_comments(tree)
    page = marked(parts_of(tree))
    # Within a line it only leads trafilatura to break it up; the parts of the page have it.
    strip_tags(tree, "q")
    found = _extracted(tree, url=url, with_metadata=True, date_extraction_params=_NO_DAY)
    if posts:
        text = said
    elif is_talk:
        text = _with_comments(tree)
    else:
        text = _chosen(page, tree, found)
    if not posts and (product := product_of(tree, nodes)):
        text = "\n\n".join(part for part in (product.missing_from(text), text) if part)
    text = _tidy(text)
    return PageText(
        text=text,
        title=shortened(found.title or _title(tree), _LONGEST_TITLE) or None,
        author=shortened(found.author or "", _LONGEST_AUTHOR) or None,
        date=day,
        language=language_of_text(text),
        links=links,
        coverage=coverage_of(page, text, [*comments, *unscripted_parts(tree, page)]),
    )


def _chosen(page: PageBlock, tree: Any, found: Document) -> str:
    """What of the page was found to be its text; more of it, or all, where that is little.

    Trafilatura gives the page's data at times, and not what it shows: that is read where it is more.
    """
    text = _kept(page, found)
    if len(text) < _SHORT:
        wider = _kept(page, _extracted(tree, favor_recall=True))
        text = wider if len(wider) > _MUCH_MORE * len(text) else text
        choose_all(page)
        keep_notes(page)
        whole = page_markdown(page)
        # Of a long page all would be menus and the like, around a text that is short and good.
        if not text or len(whole) <= _MUCH_MORE * len(text):
            text = whole
    told = found.text or ""
    is_data = len(told) > max(_SHORT, len(text)) and share_shown(page, told) < _SHOWN
    return told if is_data else text


def _kept(page: PageBlock, found: Document) -> str:
    """The parts of the page that hold a text, and what was lost between them."""
    choose(page, found.text or "", is_dump=_is_dump(found))
    regain(page)
    keep_notes(page)
    return page_markdown(page)


def _is_dump(found: Document) -> bool:
    """Whether nothing stood out: then trafilatura gives one paragraph of all lines there are."""
    body = found.body
    return body is not None and len(body) == 1 and body[0].tag == "p" and "\n" in (body[0].text or "")


def _text_of_posts(posts: Sequence[Post]) -> str:
    told = []
    for post in posts:
        said = marked(parts_of(post.body))
        choose_all(said)
        name = f"**{post.author}**" + (f", {post.date}" if post.date else "")
        told.append("\n\n".join(part for part in (name if post.author else "", page_markdown(said)) if part))
    return "\n\n".join(told)


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


def _tidy(text: str) -> str:
    plain = normalize("NFC", seen(text))
    return _GAP.sub("\n\n", "\n".join(line.rstrip() for line in plain.split("\n"))).strip("\n")


def _title(tree: Any) -> str:
    element = tree.find(".//title")
    return "" if element is None else str(element.text or "")


def coverage_of(page: PageBlock, text: str, taken: Sequence[PageBlock] = ()) -> PageCoverage:
    """What of a page's runs a text holds; `taken` are parts that were taken out of the page before.

    Whoever decides on a page or reads it is told what was left out. Menus and the like are only counted.
    """
    seen = kept = around = others = 0
    listed: list[str] = []
    out = ((run, False) for part in taken for run in part.runs())
    for run, is_held in chain(held_in(page, text), out):
        size = len(run.text)
        seen += size
        if is_held:
            kept += size
        elif run.around:
            around += size
        elif size >= _LEAST_LISTED:
            if len(listed) < _MOST_LISTED:
                listed.append(shortened(run.text, _LONGEST))
            else:
                others += 1
    return PageCoverage(seen=seen, kept=kept, around=around, left_out=tuple(listed), others=others)
