"""The day of a page: on which it says that it was published. A wrong day is worse than none.

Asked by `main_text`. In order: what it tells machines of itself (JSON-LD, then `meta`), its address, and what
stands with its headline; htmldate reads each. A day is read as it is written, in the page's own time zone.
Days of comments, other articles, changes and copyrights are none of the page's; of several that differ none
is taken.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from htmldate import find_date
from lxml.html import Element

from actors.knowledge.reading.json_ld import Node, kinds_of, listed, text_of

_DATED = frozenset(
    ("Article", "NewsArticle", "BlogPosting", "ReportageNewsArticle", "TechArticle", "ScholarlyArticle",
     "Report", "LiveBlogPosting", "AnalysisNewsArticle", "OpinionNewsArticle", "SocialMediaPosting",
     "DiscussionForumPosting", "WebPage", "Recipe", "VideoObject", "Review", "PressRelease")
)  # fmt: skip
_ISO = re.compile(r"\s{0,5}(\d{4}-\d{2}-\d{2})(?!\d)")
_IN_PATH = re.compile(r"/(20\d{2}|19\d{2})[/-](\d{1,2})[/-](\d{1,2})(?:[/_-]|\Z)")
_OTHER_META = re.compile(
    r"modif|updat|revis|copyright|expir|event|start|end|issued-until|crawl", re.IGNORECASE
)
_OTHER = re.compile(
    r"comment|respon|repl(?:y|ies)|related|recommend|teaser|ticker|sidebar|widget|popular|trending|latest|more-|feed"
    r"|event|calendar|modif|updat|copyright|footer|breaking|next|prev|author-|bio|newsletter|promo|card|archive",
    re.IGNORECASE,
)
_OTHER_TAGS = frozenset(("nav", "footer", "aside", "form", "blockquote", "table", "figure"))
_DATE_NAME = re.compile(
    r"\b(?:\w+[-_])?(?:date|published|pubdate|publish\w*|posted\w*|byline|dateline)\b", re.IGNORECASE
)
_MOST, _LONGEST = 200, 120
# A paragraph of the text itself; what stands before the first is the head of an article.
_PARAGRAPH = 100


def day_of(tree: Any, nodes: Sequence[Node], url: str) -> str | None:
    """The day as ISO 8601; None where the page says none, or not clearly.

    Args:
        tree: an lxml tree of the page.
        nodes: of its JSON-LD.
        url: where it was read.
    """
    return _told(nodes, url) or _in_meta(tree) or _in_address(url) or _shown(tree)


def _told(nodes: Sequence[Node], url: str) -> str | None:
    dated = [node for node in nodes if not kinds_of(node).isdisjoint(_DATED) and node.get("datePublished")]
    own = [node for node in dated if _is_of(node, url)] or dated
    for some in ([one for one in own if kinds_of(one) != {"WebPage"}], own):
        days = {_iso(text_of(node.get("datePublished"))) for node in some}
        if len(days) == 1:
            return days.pop()
        if days:
            return None
    return None


def _is_of(node: Node, url: str) -> bool:
    """Whether a node says that it is of this page."""
    known = [node.get("url"), node.get("@id"), *listed(node.get("mainEntityOfPage"))]
    told = [str(one.get("@id", "") if isinstance(one, dict) else one or "") for one in known]
    return any(one.partition("#")[0].rstrip("/") == url.partition("#")[0].rstrip("/") for one in told)


def _in_meta(tree: Any) -> str | None:
    """What its head states, but for days of changes and the like."""
    page = Element("html")
    head = page.makeelement("head")
    page.append(head)
    for meta in tree.iter("meta"):
        name = " ".join(
            meta.get(key) or "" for key in ("name", "property", "itemprop", "http-equiv", "pubdate")
        )
        if name.strip() and not _OTHER_META.search(name) and len(head) < _MOST:
            head.append(head.makeelement("meta", {key: str(value) for key, value in meta.attrib.items()}))
    return _found(page) if len(head) else None


def _in_address(url: str) -> str | None:
    try:
        found = _IN_PATH.search(urlsplit(url).path[:500])
    except ValueError:
        return None
    return _iso(f"{found[1]}-{int(found[2]):02}-{int(found[3]):02}") if found else None


def _shown(tree: Any) -> str | None:
    """The one day that stands in the article's head, or else in the article."""
    article = _article(tree)
    if article is None:
        return None
    in_head: set[str] = set()
    elsewhere: set[str] = set()
    text_begun = False
    for number, element in enumerate(_own(article)):
        if number > 20_000:
            break
        if element.tag == "p" and sum(map(len, element.itertext())) >= _PARAGRAPH:
            text_begun = True
        if (day := _day_at(element)) is not None:
            if element.get("itemprop") == "datePublished" or element.get("pubdate") is not None:
                return day
            (elsewhere if text_begun else in_head).add(day)
    days = in_head or elsewhere
    return days.pop() if len(days) == 1 else None


def _article(tree: Any) -> Any:
    """The part of the page that has its headline and its text, if that can be told."""
    articles = [one for one in tree.iter("article") if not _is_other(one)]
    if len(articles) == 1:
        return articles[0]
    with_headline = [one for one in articles if next(one.iter("h1"), None) is not None]
    if articles:
        return with_headline[0] if len(with_headline) == 1 else None
    main = next(tree.iter("main"), None)
    if main is not None:
        return main
    headlines = list(tree.iter("h1"))
    if len(headlines) != 1:
        return None
    above = headlines[0].getparent()
    return above if above is not None and above.tag != "html" else None


def _own(article: Any) -> Iterator[Any]:
    """The elements of an article, without those of its comments, of other articles and around the text."""
    waiting = [article]
    while waiting:
        element = waiting.pop()
        if not isinstance(element.tag, str):
            continue
        if element is not article and (
            element.tag in _OTHER_TAGS or element.tag == "article" or _is_other(element)
        ):
            continue
        yield element
        waiting.extend(reversed(element))


def _is_other(element: Any) -> bool:
    return (
        _OTHER.search(
            f"{element.get('class') or ''} {element.get('id') or ''} {element.get('itemprop') or ''}"
        )
        is not None
    )


def _day_at(element: Any) -> str | None:
    written = element.get("datetime") if element.tag == "time" else None
    if element.get("itemprop") == "datePublished":
        written = written or element.get("content")
    if written:
        return _iso(written)
    name = f"{element.get('class') or ''} {element.get('id') or ''}"
    if element.tag != "time" and (element.tag in ("body", "main", "article") or not _DATE_NAME.search(name)):
        return None
    text = " ".join("".join(element.itertext()).split())
    if not 4 < len(text) <= _LONGEST:
        return None
    page = Element("html")
    body = page.makeelement("body")
    page.append(body)
    holder = body.makeelement("time")
    holder.text = text
    body.append(holder)
    return _iso(text) or _found(page)


def _found(page: Any) -> str | None:
    latest = date.today().isoformat()
    return _iso(find_date(page, original_date=True, extensive_search=False, max_date=latest) or "")


def _iso(written: str) -> str | None:
    """The day that a time begins with; None of one to come, as of what is none."""
    found = _ISO.match(written)
    try:
        day = date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None
    return day.isoformat() if day is not None and day.year >= 1990 and day <= date.today() else None
