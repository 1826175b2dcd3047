"""Whether two pages elsewhere show one and the same text, as far as title and snippet tell. Precision goes
before recall: what may be two texts stays two.

Called by folding. They are one where their titles are the same, but for the site's own name, and their
snippets overlap nearly word for word. Never where a number, a month, an ordinal, a name, a negation or the
day of publication differs: parts of a series, reports of two months, and pages from one template are not one.
"""

from datetime import date
from typing import NamedTuple

from actors.platform.text.lexicon import words_of_all
from actors.platform.text.normal_form import words
from actors.platform.web.page_urls import host_of
from models.domains import registrable_domain
from models.knowledge.page_keys import numbers_in

# Words that snippets share at least, and the part of these that may differ.
_LEAST_SHARED, _MOST_DIFFERENT = 8, 0.15
# Words of a title at least, where it was cut off.
_LEAST_OF_CUT = 4
_LONGEST = 200
_SHINGLE = 4
_SUFFIXES = (" | ", " - ", " – ", " — ", " :: ", " · ", " » ")
_MOST_SUFFIXES = 2
_LEAST_OF_NAME = 3
# Words in normal form that make a text another one: counting words, months, days, negations, and the like.
_TELLING = words_of_all("same_text", "telling")


class TextForm(NamedTuple):
    """A page's title and snippet, as they are compared. `named` are the snippet's words in capitals."""

    host: str
    title: tuple[str, ...]
    title_cut: bool
    numbers: tuple[str, ...]
    snippet: tuple[str, ...]
    named: frozenset[str]
    published: date | None
    url_numbers: tuple[str, ...]

    @property
    def shingles(self) -> frozenset[tuple[str, ...]]:
        """Every run of four words of the snippet: pages without one in common are not compared."""
        last = len(self.snippet) - _SHINGLE + 1
        return frozenset(self.snippet[start : start + _SHINGLE] for start in range(last))


def text_form(url: str, title: str, snippet: str, published: date | None) -> TextForm:
    """What a page shows, for `same_text`."""
    host = registrable_domain(host_of(url))
    whole = title.rstrip()
    core = _without_site(whole, host)
    shown = snippet.split()[:_LONGEST]
    normal = [(written, term) for written in shown for term in words(written).split()]
    # A word that was cut off is none.
    if normal and snippet.rstrip().endswith(("…", "...")):
        normal.pop()
    return TextForm(
        host=host,
        title=tuple(words(core).split()),
        title_cut=whole.endswith(("…", "...")),
        numbers=tuple(sorted(term for term in words(whole).split() if _has_digit(term))),
        snippet=tuple(term for _, term in normal),
        named=frozenset(term for written, term in normal if written.lstrip("\"'„“(«")[:1].isupper()),
        published=published,
        url_numbers=numbers_in(url),
    )


def same_text(one: TextForm, other: TextForm) -> bool:
    """Whether two pages show one text. It takes time linear in their snippets' lengths, which are bounded."""
    if one.numbers != other.numbers or not _same_title(one, other):
        return False
    if one.published is not None and other.published is not None and one.published != other.published:
        return False
    # On one site the numbers in addresses are pages, parts and years; of two sites, they are nothing.
    if one.host == other.host and one.url_numbers != other.url_numbers:
        return False
    return _same_snippet(one, other)


def _same_title(one: TextForm, other: TextForm) -> bool:
    if not one.title or not other.title:
        return False
    if one.title == other.title:
        return True
    short, long = sorted((one, other), key=lambda form: len(form.title))
    # The last word of what was cut may be half of one.
    begun = short.title[:-1] if short.title_cut else ()
    return len(begun) >= _LEAST_OF_CUT and long.title[: len(begun)] == begun and not long.title_cut


def _same_snippet(one: TextForm, other: TextForm) -> bool:
    """Whether they overlap: one may begin earlier and end later than the other, as engines cut them."""
    from rapidfuzz.distance import Indel

    shared, different = 0, 0
    blocks = [
        (code.tag, code.src_start, code.src_end, code.dest_start, code.dest_end)
        for code in Indel.opcodes(one.snippet, other.snippet)
    ]
    inner = [place for place, block in enumerate(blocks) if block[0] == "equal"]
    if not inner:
        return False
    named = one.named | other.named
    for tag, start, end, from_, to in blocks[inner[0] : inner[-1] + 1]:
        if tag == "equal":
            shared += end - start
            continue
        changed = (*one.snippet[start:end], *other.snippet[from_:to])
        if any(_has_digit(term) or term in _TELLING or term in named for term in changed):
            return False
        different += len(changed)
    # What is outside must be an end that the other has not: not two beginnings, or two ends.
    return (
        shared >= _LEAST_SHARED
        and different <= _MOST_DIFFERENT * shared
        and not _both(blocks[: inner[0]])
        and not _both(blocks[inner[-1] + 1 :])
    )


def _both(ends: list[tuple[str, int, int, int, int]]) -> bool:
    """Whether both have words there that the other has not."""
    return any(end > start for _, start, end, _, _ in ends) and any(to > from_ for *_, from_, to in ends)


def _without_site(title: str, domain: str) -> str:
    """A title without the name of its site at the end, where that is plainly the domain's."""
    for _ in range(_MOST_SUFFIXES):
        at, sign = max((title.rfind(sign), sign) for sign in _SUFFIXES)
        if at <= 0:
            break
        name = words(title[at + len(sign) :]).replace(" ", "")
        label = "".join(character for character in domain.partition(".")[0] if character.isalnum())
        alike = len(label) >= _LEAST_OF_NAME and (name.startswith(label) or label.startswith(name))
        if len(name) < _LEAST_OF_NAME or not alike or _has_digit(name):
            break
        title = title[:at]
    return title


def _has_digit(term: str) -> bool:
    return any(character.isdigit() for character in term)
