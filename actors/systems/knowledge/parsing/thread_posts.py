"""The posts of a discussion: who wrote, when, and what, in the order of the page.

`main_text` asks for them on pages of forums, where posts are the text and not comments on it. Forums run on
few programs, and each marks its posts in its own way; schema.org's microdata marks those of others.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

_MOST_POSTS = 1_000
# Up from what a post says to the element that holds its author too; no further.
_HIGHEST = 8
_MOST_AROUND = 120


@dataclass(frozen=True)
class Post:
    """One post. `body` is its element in the page; author and date are as they are written, "" if unknown."""

    author: str
    date: str
    body: Any


def _classed(*names: str) -> Callable[[Any], bool]:
    """Whether an element has all these classes."""
    wanted = frozenset(names)
    return lambda element: wanted <= frozenset((element.get("class") or "").split())


def _within(inner: Callable[[Any], bool], outer: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Whether an element is the one and lies in the other."""
    return lambda element: (
        inner(element)
        and any(outer(above) for _, above in zip(range(_HIGHEST), element.iterancestors(), strict=False))
    )


def _numbered(prefix: str) -> Callable[[Any], bool]:
    """Whether the id of an element is a prefix and a number."""

    def is_one(element: Any) -> bool:
        found = element.get("id") or ""
        return found.startswith(prefix) and found[len(prefix) :].isdigit()

    return is_one


def _given(name: str, *values: str) -> Callable[[Any], bool]:
    """Whether an attribute has one of these values."""
    wanted = frozenset(values)
    return lambda element: element.get(name) in wanted


# What marks the text of a post, by program. The first that marks any is believed: some pages carry the marks
# of two, an old program's within a new one's.
_MARKS: tuple[tuple[str, Callable[[Any], bool]], ...] = (
    ("Discourse", _within(_classed("cooked"), _classed("topic-body"))),
    ("Discourse, as crawlers are shown it", _within(_classed("post"), _classed("crawler-post"))),
    (
        "XenForo 2",
        _within(_classed("bbWrapper"), lambda e: e.tag == "article" and bool(e.get("data-author"))),
    ),
    ("XenForo 1", _classed("messageText", "SelectQuoteContainer")),
    ("Invision", _given("data-role", "commentContent")),
    ("vBulletin 3, 4", _numbered("post_message_")),
    ("vBulletin 5", _classed("js-post__content-text")),
    ("phpBB 3", _within(_classed("content"), _classed("postbody"))),
    ("SMF", _within(_classed("inner"), _classed("post"))),
    ("SMF, by number", _numbered("msg_")),
    ("MyBB", _classed("post_body")),
    ("FluxBB, PunBB", _within(_classed("postmsg"), _classed("blockpost"))),
    ("Flarum", _classed("Post-body")),
    ("NodeBB", _given("component", "post/content")),
    ("Stack Exchange", _classed("js-post-body")),
    ("Khoros", _classed("lia-message-body-content")),
    ("Vanilla", _classed("Message", "userContent")),
    ("bbPress", lambda e: _classed("bbp-topic-content")(e) or _classed("bbp-reply-content")(e)),
    ("Reddit", lambda e: e.get("slot") in ("text-body", "comment") and e.tag == "div"),
    ("old Reddit", _within(_classed("md"), _classed("usertext-body"))),
    ("Hacker News", lambda e: _classed("commtext")(e) or _classed("toptext")(e)),
    ("Lobsters", lambda e: _classed("comment_text")(e) or _classed("story_text")(e)),
    (
        "microdata",
        _within(
            lambda e: e.get("itemprop") in ("text", "articleBody", "commentText"),
            lambda e: (
                (e.get("itemtype") or "").rpartition("/")[2]
                in ("DiscussionForumPosting", "Comment", "Answer", "Question", "UserComments")
            ),
        ),
    ),
)
_AUTHOR_CLASSES = frozenset(
    (
        *("username", "author", "message-name", "postauthor", "bigusername", "creator", "hnuser", "u-author"),
        *("post_author", "post-author", "bbp-author-name", "PostUser-name", "poster", "lia-user-name-link"),
    )
)
_HOLDERS = ("author", "creator")


def posts_of(tree: Any) -> list[Post]:
    """The posts of a page, by the program that marks them; none where no program does.

    Args:
        tree: an lxml tree of the page; it is not changed.
    """
    found: dict[str, list[Any]] = {}
    for element in tree.iter():
        if not isinstance(element.tag, str) or not element.attrib:
            continue
        for program, is_post in _MARKS:
            if is_post(element):
                found.setdefault(program, []).append(element)
                break
    for program, _ in _MARKS:
        if bodies := _outermost(found.get(program, ())):
            return [_post(body) for body in bodies[:_MOST_POSTS]]
    return []


def _outermost(elements: Iterable[Any]) -> list[Any]:
    """Those that lie in no other of them: a post that quotes another is one."""
    kept: list[Any] = []
    held: set[Any] = set()
    for element in elements:
        if not any(above in held for above in element.iterancestors()):
            kept.append(element)
            held.add(element)
    return kept


def _post(body: Any) -> Post:
    author = date = ""
    for _, above in zip(range(_HIGHEST), body.iterancestors(), strict=False):
        author = author or (above.get("data-author") or "").strip()[:100]
        for element in _before(above, body):
            author = author or _author(element)
            date = date or _date(element)
        if author and date:
            break
        if author and above.tag in ("article", "li"):
            break
    return Post(author=author, date=date, body=body)


def _before(above: Any, body: Any) -> Iterator[Any]:
    """A few elements of a post that are not its text."""
    for _, element in zip(range(_MOST_AROUND), above.iter(), strict=False):
        if element is not body and isinstance(element.tag, str):
            yield element


def _author(element: Any) -> str:
    classes = frozenset((element.get("class") or "").split())
    if element.get("itemprop") not in _HOLDERS and classes.isdisjoint(_AUTHOR_CLASSES):
        return ""
    text = " ".join("".join(element.itertext()).split())
    return text if len(text) <= 60 else ""


def _date(element: Any) -> str:
    return (element.get("datetime") or "").strip()[:10] if element.tag == "time" else ""
