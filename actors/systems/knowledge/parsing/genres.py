"""What genre a page is of, as far as that changes how it is read: a discussion, or anything else.

`main_text` asks. By what a page says of itself and by the marks of the programs that forums run on, never by
its words: whoever is taken for a forum wrongly loses what stands around its comments.
"""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from actors.systems.knowledge.parsing.json_ld import Node, kinds_of

_TALKS = frozenset(("DiscussionForumPosting", "QAPage"))
_ARTICLES = frozenset(("Article", "NewsArticle", "BlogPosting", "ReportageNewsArticle", "TechArticle"))
# How their `generator` begins.
_PROGRAMS = (
    *("discourse", "phpbb", "vbulletin", "xenforo", "mybb", "smf", "simple machines", "flarum", "nodebb"),
    *(
        "invision",
        "ips",
        "vanilla",
        "fluxbb",
        "punbb",
        "bbpress",
        "question2answer",
        "lemmy",
        "woltlab",
        "burning",
    ),
)
_PAGE_IDS = frozenset(("XF", "XenForo", "phpbb", "nojs-phpbb", "ipsLayout_body", "ipsLayout"))
_PAGE_CLASSES = frozenset(("ipsApp", "bbpress", "question-page", "vb-page", "forum-topic", "single-topic"))
_APPLICATIONS = re.compile(r"(?i)\A(discourse|flarum|nodebb|lemmy|vanilla)")
_PATH = re.compile(
    r"/(viewtopic|showthread|thread|topic)(\.php|-\d|/\d)|/threads?/[^/]|/forums?/|/questions/\d|/topics?/[^/]|"
    r"/comments/[a-z0-9]|/discussions?/[^/]|/t/[^/]+/\d|/boards/\d|/showtopic|\A/(forum|watek|temat|vt)[,/\-]",
    re.IGNORECASE,
)
_QUERY = re.compile(r"(?:\A|&)(?:topic|tid|threadid)=\d|(?:\A|[&/])(?:showtopic|topic)[=/]\d", re.IGNORECASE)
_HOSTS = re.compile(
    r"(?i)\A(forums?|community|boards?|bbs|discuss|discourse|answers)\.|(\A|\.)(reddit|lobste)\."
)
_NEWS = ("news.ycombinator.com", "/item")


def is_discussion(tree: Any, nodes: Sequence[Node], url: str) -> bool:
    """Whether a page says, or shows by its program or its address, that it is a discussion.

    Args:
        tree: an lxml tree of the page.
        nodes: of its JSON-LD.
    """
    kinds = frozenset().union(*(kinds_of(node) for node in nodes))
    if not kinds.isdisjoint(_TALKS):
        return True
    if not kinds.isdisjoint(_ARTICLES):
        return False
    return _by_program(tree) or _by_address(url)


def _by_program(tree: Any) -> bool:
    for element in tree.iter("meta"):
        content = (element.get("content") or "").strip()
        name = (element.get("name") or "").lower()
        if name == "generator" and content.lower().startswith(_PROGRAMS):
            return True
        if name == "application-name" and _APPLICATIONS.match(content):
            return True
    for element in tree.iter("html", "body"):
        if element.get("id") in _PAGE_IDS or not _PAGE_CLASSES.isdisjoint(
            (element.get("class") or "").split()
        ):
            return True
    return any(
        (element.get("itemtype") or "").rpartition("/")[2] in _TALKS
        for element in tree.iter("html", "body", "div", "article", "main", "section")
    )


def _by_address(url: str) -> bool:
    try:
        at = urlsplit(url)
        host = at.hostname or ""
    except ValueError:
        return False
    path = at.path[:500]
    return bool(
        _PATH.search(path) or _QUERY.search(at.query[:500]) or _HOSTS.search(host) or (host, path) == _NEWS
    )
