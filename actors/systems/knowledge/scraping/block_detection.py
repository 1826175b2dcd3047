"""What an answer comes to: text to keep, a reason to try the browser, or a fault. Pure; the scraper asks.

It judges by the status, by the signs of the page and by how much text was found in it. A page about errors,
cookies or logging in has text of its own; a wall has little but the wall.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from actors.platform.text.lexicon import pattern
from actors.systems.knowledge.parsing.page_signs import PageSigns
from models.knowledge.pages import Engine, PageFault

# Characters of main text: nothing to speak of, hardly anything, a short notice, a page that clearly has
# something to say.
_NOTHING, _HARDLY, _SHORT, _PLENTY = 20, 60, 400, 1500
# Beside the words of a wall in a title: the name of the site, an apology.
_REST, _NAME = 40, 20
# Where a wall without a heading says what it is.
_BEGINNING = 300


_ACCEPT, _CHALLENGE, _CONSENT, _CONSENT_HEAD, _DENIED, _LOGIN, _LOGIN_ASKED = (
    pattern("walls", key, flags=0)
    for key in ("accept", "challenge", "consent", "consent_head", "denied", "login", "login_asked")
)
_NOT_FOUND, _PAYWALL, _POLICY_HEAD, _SCRIPT_NEEDED, _CONSENT_PATH = (
    pattern("walls", key, flags=0)
    for key in ("not_found", "paywall", "policy_head", "script_needed", "consent_path")
)
_LOGIN_PATH = pattern("walls", "login_path", r"/{}\b", flags=0)


class PageVerdict(NamedTuple):
    """`fault` None: there is text to keep. `browser`: a browser might see it, or more of it."""

    fault: PageFault | None
    reason: str | None = None
    browser: bool = False


KEEP = PageVerdict(None)


def verdict(*, status: int, url: str, asked: str, engine: Engine, signs: PageSigns, text: str) -> PageVerdict:
    """What an HTML answer comes to.

    Args:
        url: where it was had in the end; `asked` is what was asked for.
        text: the main text that was found, as Markdown; it may be empty.
    """
    found = _by_status(status, signs, text) or _by_page(url, asked, signs, text, engine)
    if found is None:
        return KEEP
    if found.fault is None and engine != "http":
        return KEEP
    # What a browser has shown is not asked of a browser again.
    return found._replace(browser=False) if engine != "http" else found


def _by_status(status: int, signs: PageSigns, text: str) -> PageVerdict | None:
    if status < 400:
        return None
    if _challenged(signs, text):
        return PageVerdict("challenge", f"{status}: it asks for proof of a human", browser=True)
    if status in (404, 410):
        return PageVerdict("not_found", f"{status}: there is no such page")
    if status == 401 or (status == 403 and signs.password_fields):
        return PageVerdict("login", f"{status}: it is shown to those who log in")
    if status in (403, 451):
        return PageVerdict("forbidden", f"{status}: the server refuses it", browser=status == 403)
    if status == 429:
        return PageVerdict("later", "429: the host is asked too often", browser=True)
    if status == 503:
        return PageVerdict("later", "503: the host is unwell, or being worked on")
    return PageVerdict("http_error", f"the server answered {status}")


def _by_page(url: str, asked: str, signs: PageSigns, text: str, engine: Engine) -> PageVerdict | None:
    size = len(text)
    head = " | ".join((signs.title, *signs.headings)).lower()
    if _challenged(signs, text):
        return PageVerdict("challenge", "it asks for proof of a human", browser=True)
    paid = size < _PLENTY and signs.paywall and _PAYWALL.search(f"{text} {signs.body}".lower()) is not None
    if paid or (size < _SHORT and _walled_by_login(url, asked, head, signs, text)):
        return PageVerdict("login", "it is shown to those who log in")
    if _walled_by_consent(url, asked, head, signs, text):
        return PageVerdict("consent", "it is shown to those who accept cookies", browser=False)
    # Where the scripts have run, what little there is was made by them.
    if (engine == "http" or size < _HARDLY) and _filled_by_scripts(signs, text):
        return PageVerdict("no_text", "its text is made by scripts", browser=True)
    if size < 2 * _SHORT and _says_not_found(signs, text):
        return PageVerdict("not_found", "it says that there is no such page")
    if size < _HARDLY and signs.seen < _SHORT:
        if signs.scripts or signs.frameset or signs.frames:
            if size < _NOTHING:
                return PageVerdict("no_text", "it holds hardly any text", browser=True)
            return PageVerdict(None, browser=True)
        if size == 0:
            return PageVerdict("no_text", "it holds no text")
    # So little that scripts may still add what it is about, or a place that stands empty beside it: the
    # browser is asked, and who has more is believed.
    if signs.scripts and size < _SHORT and (signs.seen - signs.around < _SHORT or signs.empty_places):
        return PageVerdict(None, browser=True)
    return None


def _challenged(signs: PageSigns, text: str) -> bool:
    """Little to read, and what asks for a human: by its words in the head, or by the name of who asks."""
    seen = signs.body.lower()
    words = bool(_CHALLENGE.search(signs.title.lower()) or _CHALLENGE.search(seen[:600]))
    if signs.seen - signs.around < _SHORT or len(text) < _HARDLY:
        if _DENIED.search(signs.title.lower()) and _DENIED.search(seen):
            return True
        return words or (bool(signs.challenges) and signs.seen < _SHORT and not signs.password_fields)
    return words and bool(signs.challenges) and len(text) < _SHORT


def _walled_by_login(url: str, asked: str, head: str, signs: PageSigns, text: str) -> bool:
    path = url.partition("://")[2].partition("/")[2]
    redirected = url != asked and _LOGIN_PATH.search(f"/{path.lower()}") is not None
    own = signs.seen - signs.around
    said = f"{head} {text.lower()} {signs.body.lower()[:1500]}"
    if signs.password_fields and (redirected or own < 2 * _SHORT) and _LOGIN.search(said):
        return bool(redirected or _LOGIN.search(f"{head} {text.lower()}") or len(text) < _HARDLY)
    if redirected:
        return True
    if own >= 2 * _SHORT:
        return False
    # It begins with that: what asks for it below a text asks those who want to comment.
    first = f"{head} {text.lower()[:_BEGINNING] or signs.body.lower()[:_BEGINNING]}"
    asked_for = _LOGIN_ASKED.search(first) is not None or _nearly_all(_LOGIN, signs.headings, _NAME)
    return asked_for or bool(_LOGIN.search(said) and _PAYWALL.search(said))


def _walled_by_consent(url: str, asked: str, head: str, signs: PageSigns, text: str) -> bool:
    if len(text) >= _PLENTY:
        return False
    if url != asked and _CONSENT_PATH.search(url.lower()):
        return True
    # What a site says of its cookies, to whoever asks for it, is no wall.
    if url == asked and _POLICY_HEAD.search(head):
        return False
    own = text.lower() or signs.body.lower()
    marks = len(_CONSENT.findall(own))
    dense = marks >= 3 and marks * 110 > len(own)
    if not dense or signs.seen >= 2 * _PLENTY or not _CONSENT_HEAD.search(f"{head} {own[:_BEGINNING]}"):
        return False
    # A text about cookies has no button that takes them.
    return any(_ACCEPT.search(button.lower()) for button in signs.buttons)


def _filled_by_scripts(signs: PageSigns, text: str) -> bool:
    """Whether scripts make what the page is about: its root is empty, or stands full of placeholders."""
    if not signs.scripts:
        return False
    size, own = len(text), signs.seen - signs.around
    if signs.empty_roots and size < _SHORT:
        return True
    if signs.placeholders and (size < _SHORT or (signs.placeholders >= 3 and size < 2 * _SHORT)):
        return True
    needs = _SCRIPT_NEEDED.search(f"{signs.noscript} {signs.body[:500]}".lower()) is not None
    return needs and (size < _SHORT and own < 2 * _SHORT)


def _says_not_found(signs: PageSigns, text: str) -> bool:
    """In its title or heading, or in all the little that it says; a long title is of a text about it."""
    heads = (signs.title, *signs.headings)
    if len(text) < _SHORT and any(_NOT_FOUND.search(said.lower()) for said in (*heads, text)):
        return True
    return _nearly_all(_NOT_FOUND, heads, _REST)


def _nearly_all(words: re.Pattern[str], heads: Iterable[str], rest: int) -> bool:
    """Whether one of the heads says that, and fewer than `rest` characters beside it."""
    return any(
        found and len(head) - len(found[0]) < rest for head in heads for found in [words.search(head.lower())]
    )
