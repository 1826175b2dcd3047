"""What can be seen of a page's HTML beside its text: signs of scripts, walls and challenges.

Worked out in the process that reads the page, in time linear in it; `verdict` judges by them. What a page
says of itself is untrusted: a sign only ever moves a page to another engine, or names the fault.
"""

import re
from collections.abc import Iterator
from typing import Any

import lxml.html

from actors.platform.text.lexicon import pattern
from models.record import Record

# Where frameworks put what their scripts make.
_APP_ROOTS = frozenset(
    ("root", "app", "__next", "__nuxt", "___gatsby", "svelte", "main-app", "react-root", "q-app")
)
_APP_TAGS = frozenset(("app-root", "ng-app", "my-app", "router-outlet", "app-main"))
_PLACEHOLDER = re.compile(r"\b(skeleton|placeholder|shimmer|spinner|preloader|loader|loading)")
# All that is said there, or with what it waits for and dots: "Loading" is no heading about loading files.
_LOADING = pattern("walls", "loading", r"{}([^.…]{0,40}(\.\.\.?|…)|[.!]?)", flags=0)
_UNSEEN = frozenset(
    ("script", "style", "noscript", "template", "head", "svg", "select", "datalist", "iframe")
)
_AROUND = frozenset(("nav", "header", "footer", "aside", "form", "dialog"))
_HEADINGS = frozenset(("h1", "h2"))
_CHALLENGES = (
    "cf-chl",
    "cdn-cgi/challenge-platform",
    "challenges.cloudflare.com",
    "cf-turnstile",
    "cf_chl_opt",
    "hcaptcha.com",
    "h-captcha",
    "google.com/recaptcha",
    "g-recaptcha",
    "px-captcha",
    "perimeterx",
    "captcha-delivery.com",
    "datadome",
    "_incapsula_resource",
    "awswafintegration",
    "aws-waf-token",
    "awswaf",
    "gokuprops",
    "ddos-guard",
    "sucuri_cloudproxy",
    "kpsdk",
    "/_sec/cp_challenge",
)
# Parts of a page that stand empty for other reasons than that a text comes there.
_OTHER_PLACES = re.compile(
    r"(\bads?\b|gpt|adslot|banner|modal|portal|overlay|cookie|consent|toast|popup|fb-root|lightbox|tooltip|"
    r"gtm|analytics|sentinel|search|menu|\bnav|\bmap\b|captcha|chat|notif|share|social|player|video|spacer|clear)"
)
_PLACES = frozenset(("div", "section", "article", "main"))
_NOT_FREE = re.compile(rb'"isaccessibleforfree"\s*:\s*"?false')
_MOST_TEXT = 4000
_BUTTON_LIKE = re.compile(r"\b(btn|button|cta)")
_MOST_BUTTONS, _BUTTON = 40, 300


class PageSigns(Record):
    """Signs of a page. Counts are of characters that are seen, without runs of white space.

    `body` is the beginning of what is seen, `around` of it lies in navigation, headers, footers and forms.
    `buttons` are what can be pressed, the first of them. `empty_roots`: places that scripts fill, with hardly
    a word in them; `placeholders` stand for what is loaded; `empty_places` may be for a text. `paywall`: a
    part of the page says so of itself, or its data do.
    """

    title: str = ""
    headings: tuple[str, ...] = ()
    body: str = ""
    buttons: tuple[str, ...] = ()
    seen: int = 0
    around: int = 0
    scripts: int = 0
    script_bytes: int = 0
    noscript: str = ""
    empty_roots: int = 0
    placeholders: int = 0
    empty_places: int = 0
    paywall: bool = False
    password_fields: int = 0
    frames: int = 0
    frameset: bool = False
    refresh: str | None = None
    challenges: tuple[str, ...] = ()


def page_signs(html: bytes | str) -> PageSigns:
    """The signs of a page's HTML; none of what can't be parsed."""
    raw = html if isinstance(html, bytes) else html.encode(errors="replace")
    try:
        root = lxml.html.document_fromstring(
            raw, parser=lxml.html.HTMLParser(huge_tree=False, encoding="utf-8")
        )
    except (lxml.etree.LxmlError, ValueError):
        return PageSigns(challenges=_challenges(raw))
    return _Signs(root).seen_in(raw)


class _Signs:
    """One walk over the tree."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._facts: dict[str, Any] = {
            **dict.fromkeys(("seen", "around", "scripts", "script_bytes", "empty_roots"), 0),
            **dict.fromkeys(("placeholders", "empty_places", "password_fields", "frames"), 0),
            "paywall": False,
        }
        self._text: list[str] = []
        self._held = 0
        self._headings: list[str] = []
        self._buttons: list[str] = []
        self._noscript: list[str] = []

    def seen_in(self, raw: bytes) -> PageSigns:
        for element, around, within in _seen_elements(self._root):
            self._element(element, around)
            self._words(element.tail, within)
        title = self._root.findtext(".//title") or ""
        self._facts["paywall"] |= _NOT_FREE.search(raw.lower()) is not None
        return PageSigns(
            title=_flat(title)[:300],
            headings=tuple(self._headings[:5]),
            buttons=tuple(self._buttons),
            body=_flat(" ".join(self._text))[:_MOST_TEXT],
            noscript=_flat(" ".join(self._noscript))[:1000],
            frameset=self._root.find(".//frameset") is not None,
            refresh=_refresh(self._root),
            challenges=_challenges(raw),
            **self._facts,
        )

    def _element(self, element: Any, around: bool) -> None:
        tag, facts = element.tag, self._facts
        if tag == "script":
            facts["scripts"] += 1
            facts["script_bytes"] += len(element.text or "")
        elif tag == "noscript":
            self._noscript.append(element.text_content()[:1000])
        elif tag in ("iframe", "frame"):
            facts["frames"] += 1
        elif tag == "input" and (element.get("type") or "").lower() == "password":
            facts["password_fields"] += 1
        if tag not in _UNSEEN:
            self._words(element.text, around)
            self._place(element)
            if len(self._buttons) < _MOST_BUTTONS and _is_button(element):
                said = element.get("value") or element.text_content()
                self._buttons.append(_flat(said[:_BUTTON])[:60])
            if tag in _HEADINGS and len(self._headings) < 5:
                self._headings.append(_flat(element.text_content())[:300])

    def _words(self, text: str | None, around: bool) -> None:
        if not text or not (text := _flat(text)):
            return
        self._facts["seen"] += len(text)
        if around:
            self._facts["around"] += len(text)
        if self._held < _MOST_TEXT:
            self._held += len(text)
            self._text.append(text)

    def _place(self, element: Any) -> None:
        names = f"{element.get('id') or ''} {element.get('class') or ''}".lower()
        root = (element.get("id") or "").lower() in _APP_ROOTS or element.tag in _APP_TAGS
        if root and _length(element, 80) < 80:
            self._facts["empty_roots"] += 1
        elif (
            element.tag in _PLACES
            and element.get("id")
            and not len(element)
            and not (element.text or "").strip()
        ):
            self._facts["empty_places"] += _OTHER_PLACES.search(names) is None
        if "paywall" in names and _length(element, 20) >= 20:
            self._facts["paywall"] = True
        busy = (element.get("aria-busy") or "").lower() == "true"
        if busy or _PLACEHOLDER.search(names):
            self._facts["placeholders"] += _length(element, 60) < 60
        elif element.text and len(element.text) < 60 and _LOADING.fullmatch(element.text.strip().lower()):
            self._facts["placeholders"] += 1


def _is_button(element: Any) -> bool:
    """What is one, or is a link or a part of the page that is made to look like one."""
    if element.tag == "input":
        return (element.get("type") or "").lower() in ("submit", "button")
    if element.tag == "button" or (element.get("role") or "").lower() == "button":
        return True
    if element.tag != "a":
        return False
    leads_nowhere = (element.get("href") or "#").lower().startswith(("#", "javascript:"))
    return leads_nowhere or _BUTTON_LIKE.search((element.get("class") or "").lower()) is not None


def _seen_elements(root: Any) -> Iterator[tuple[Any, bool, bool]]:
    """Each element, and whether it, and what it lies in, lie around the main thing.

    What is unseen is not gone into.
    """
    stack = [(root, False)]
    while stack:
        element, within = stack.pop()
        if not isinstance(element.tag, str):
            continue
        around = within or element.tag in _AROUND
        yield element, around, within
        if element.tag not in _UNSEEN or element.tag == "head":
            stack.extend((child, around) for child in reversed(element))


def _length(element: Any, enough: int) -> int:
    """How much is seen in an element, up to `enough`; a hundred parts of it are looked at."""
    total = 0
    for number, part in enumerate(element.iter()):
        if number > 100:
            return enough
        if part.tag not in _UNSEEN and isinstance(part.tag, str):
            total += len(_flat((part.text or "")[:200]))
        if part is not element:
            total += len(_flat((part.tail or "")[:200]))
        if total >= enough:
            return enough
    return total


def _refresh(root: Any) -> str | None:
    for meta in root.iterfind(".//meta"):
        if (meta.get("http-equiv") or "").strip().lower() == "refresh":
            seconds, _, target = (meta.get("content") or "").partition(";")
            name, equals, address = target.strip().partition("=")
            if equals and name.strip().lower() == "url" and _soon(seconds):
                return str(address.strip().strip("'\"")) or None
    return None


def _soon(seconds: str) -> bool:
    try:
        return float(seconds.strip() or 0) <= 30
    except ValueError:
        return False


def _challenges(raw: bytes) -> tuple[str, ...]:
    lower = raw.lower()
    return tuple(name for name in _CHALLENGES if name.encode() in lower)


def _flat(text: str) -> str:
    return " ".join(text.split())
