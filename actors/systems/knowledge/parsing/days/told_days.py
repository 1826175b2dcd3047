"""The days that a page tells machines: in its JSON-LD, in `meta`, and in its address.

Read by `page_day`. What says that it is of another page is of none here: sites put the data of what they
tease into their pages.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from actors.platform.text.numbers.written_days import DayReader, WrittenDay
from actors.systems.knowledge.parsing.json_ld import Node, kinds_of, listed, text_of
from actors.systems.knowledge.parsing.parts.part_names import is_called

_DATED = frozenset(
    ("Article", "NewsArticle", "BlogPosting", "ReportageNewsArticle", "TechArticle", "ScholarlyArticle",
     "Report", "LiveBlogPosting", "AnalysisNewsArticle", "OpinionNewsArticle", "SocialMediaPosting",
     "DiscussionForumPosting", "WebPage", "Recipe", "VideoObject", "Review", "PressRelease")
)  # fmt: skip
_IN_PATH = re.compile(r"/((?:20|19)\d{2}[/-]\d{1,2}[/-]\d{1,2})(?:[/_-]|\Z)")
# An archive's address holds that of the page.
_KEPT_OF = re.compile(r"(?<=/)https?:/{1,2}[^\s]{1,1000}")
_MOST, _LONGEST = 200, 2_000


class _Address(NamedTuple):
    """That by which addresses of one page are the same."""

    host: str
    path: str
    query: str


def told_by_nodes(tree: Any, nodes: Sequence[Node], url: str, reader: DayReader) -> list[WrittenDay]:
    """The days of the page in its JSON-LD: of those that name it or its headline, or of all."""
    dated = [node for node in nodes if not kinds_of(node).isdisjoint(_DATED) and node.get("datePublished")]
    for some in _likely(tree, dated, url):
        for more in ([one for one in some if kinds_of(one) != {"WebPage"}], some):
            if told := list(_read((node.get("datePublished") for node in more), reader)):
                return told
    return []


def changed_by(tree: Any, nodes: Sequence[Node], reader: DayReader) -> list[WrittenDay]:
    """The days on which the page says to machines that it was changed."""
    told = [node.get("dateModified") for node in nodes]
    told += [meta.get("content") for meta in tree.iter("meta") if is_called(_name(meta), "changes")]
    return list(_read(told, reader))


def told_by_meta(tree: Any, reader: DayReader) -> list[WrittenDay]:
    """The days that its head states, but for those of changes and the like."""
    found = []
    for number, meta in enumerate(tree.iterfind(".//head//meta")):
        name = _name(meta)
        if number >= _MOST or not is_called(name, "days"):
            continue
        if not is_called(name, "other_days") and not is_called(name, "changes"):
            found.append(meta.get("content"))
    return list(_read(found, reader))


def told_by_address(url: str, reader: DayReader) -> list[WrittenDay]:
    """The day in its address: `/2026/05/20/`."""
    found = _IN_PATH.search(_parts(url).path)
    return list(_read([found[1]], reader)) if found else []


def _read(values: Any, reader: DayReader) -> Iterator[WrittenDay]:
    for value in values:
        if (told := reader.only_in(text_of(value))) is not None:
            yield told


def _likely(tree: Any, dated: Sequence[Node], url: str) -> Iterator[list[Node]]:
    """Which nodes may be of the page, the surest first."""
    links = (link.get("href") for link in tree.iter("link") if link.get("rel") == "canonical")
    own = {_parts(one, url) for one in (url, *_KEPT_OF.findall(url), *links) if one}
    yield [node for node in dated if own & {_parts(one, url) for one in (*_named(node), *_ids(node))}]
    nameless = [node for node in dated if not _is_of_another(node, url)]
    heading = tree.find(".//h1")
    headline = _words("" if heading is None else "".join(heading.itertext()))
    yield [node for node in nameless if headline and _words(text_of(node.get("headline"))) == headline]
    yield nameless if len(nameless) == len(dated) else []


def _is_of_another(node: Node, url: str) -> bool:
    """Whether it names some other page. Many articles give the address of the whole site for theirs."""
    is_page = kinds_of(node) == {"WebPage"}
    return any(is_page or _parts(one, url).path for one in _named(node))


def _named(node: Node) -> Iterator[str]:
    """The addresses of the page that a node says it is of."""
    for told in (*listed(node.get("url")), *listed(node.get("mainEntityOfPage"))):
        one = told.get("@id") or told.get("url") if isinstance(told, dict) else told
        if isinstance(one, str) and one.startswith(("http://", "https://", "/")):
            yield one


def _ids(node: Node) -> Iterator[str]:
    yield from (one for one in listed(node.get("@id")) if isinstance(one, str) and one)


def _parts(address: str, base: str = "") -> _Address:
    try:
        split = urlsplit(urljoin(base, address[:_LONGEST]))
    except ValueError:
        return _Address("", "", "")
    query = "&".join(one for one in split.query.split("&") if one and not one.startswith("utm_"))
    return _Address(split.netloc.lower().removeprefix("www."), split.path.rstrip("/"), query)


def _words(text: str) -> str:
    return " ".join(text.split()).casefold()


def _name(meta: Any) -> str:
    return " ".join(meta.get(key) or "" for key in ("name", "property", "itemprop", "http-equiv"))
