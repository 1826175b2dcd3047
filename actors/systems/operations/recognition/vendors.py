"""Names of vendors: their normal form, when two are one, and where a text names one that is known.

Called by `reading.item` and the scoring of pairs. Case, accents, punctuation and legal forms don't count;
other words do: `Northgate Logistics Partners` is not `Northgate Logistics`, nor `Acme Foods` `Acme Tools`.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from rapidfuzz.distance import OSA

from actors.platform.text.lexicon import pattern, words_of_all
from actors.platform.text.names.legal_forms import is_form_word
from actors.platform.text.names.name_form import (
    NameForm,
    cannot_be_same,
    in_german_ascii,
    name_form,
)
from actors.platform.text.names.spelling import spelled_alike
from actors.platform.text.normal_form import without_accents

_LONGEST = 120
_MOST_WORDS = 12
_LEAST_LETTERS = 2
# Forms that are taken for each other by whoever types them in; those of two countries never.
_MISTAKEN = frozenset(["inc", "corp", "co", "ltd", "llc", "pte", "pty"])
_MISTAKEN_SCORE = 0.7
_SPELLED_SCORE, _MISSPELT_SCORE = 0.95, 0.85
# In a shorter word another letter makes another name.
_SHORTEST_MISSPELT = 7
_NO_NAME = re.compile(r"https?:|www\.|@|[{}<>\[\]|=]|\A[\W\d_]*\Z")
_CODE = re.compile(r"(?=[^\W_]*\d)[^\W_]{10,}\Z|[^\W_-]{8}-[^\W_-]{4}-")
_NOBODY = words_of_all("vendors", "nobody")
_LABEL = pattern("vendors", "label", r"(?<![^\W_]){}(?: name)?[*_]{0,2}:[*_]{0,2} ")
_LINE_END = re.compile(r"[\n\r;|,()<]")
_FORM = re.compile(
    r"(?<![^\W_])(?:Inc|LLC|Ltd|Limited|Corp|Corporation|PLC|LLP|GmbH(?: & Co\. KG)?|AG|KG|UG|S\. ?A"
    r"|[Ss]p\. ?z ?o\. ?o|B\.V|S\.r\.l)(?![^\W_])"
)
# What joins the parts of a name, as `&` does; and what may join them, as far as a run of capitals goes.
_ANDS, _JOINS = words_of_all("vendors", "and"), words_of_all("vendors", "joins")
_AND = re.compile(rf"\s(?:{'|'.join(sorted(_ANDS))})\s")
_SHORTEST_NAMED, _SHORTEST_COMPACT = 3, 6
_MOST_BEFORE, _LONGEST_WORD = 6, 40
_TOKEN = re.compile(r"[^\W\d_]+(?:['’ʼ][^\W\d_]+)?|\d+|[&+]")
# With a capital, these are no part of a name beside them.
_BESIDE = words_of_all("vendors", "beside")


@lru_cache(maxsize=65536)
def vendor_form(name: str) -> NameForm:
    """A company's name as it is compared, without what the legal forms say."""
    return name_form(_AND.sub(" & ", name.strip().strip("\"'„“”")), "organization")


@lru_cache(maxsize=65536)
def vendor_name(name: str) -> str:
    """The normal form of a vendor's name, `muller and sohne` of `Müller & Söhne GmbH`; empty of blanks."""
    normal, before = without_accents(vendor_form(name).text), ""
    # An article or a form may stand behind another one.
    while normal != before:
        before, normal = normal, without_accents(vendor_form(normal).text) or normal
    return normal.strip()


def is_vendor_name(value: str) -> bool:
    """Whether a value of a field for a vendor is a name, not a number, an address or a word for nobody."""
    line = " ".join(value.split())
    if not line or len(line) > _LONGEST or _NO_NAME.search(line) or _CODE.match(line):
        return False
    letters = sum(map(str.isalpha, line))
    named = line.casefold() not in _NOBODY and len(line.split()) <= _MOST_WORDS
    return letters >= _LEAST_LETTERS and 2 * letters >= len(line) - line.count(" ") and named


@lru_cache(maxsize=65536)
def vendor_likeness(first: str, second: str) -> float:
    """How surely two names are one company's: 1 for the same, 0 for two companies."""
    one, other = vendor_form(first), vendor_form(second)
    if vendor_name(first) == vendor_name(second):
        if not cannot_be_same(one, other, "organization"):
            return 1.0
        return _MISTAKEN_SCORE if one.legal | other.legal <= _MISTAKEN else 0.0
    if one.vague or other.vague or one.marks != other.marks or cannot_be_same(one, other, "organization"):
        return 0.0
    if in_german_ascii(one.text) == in_german_ascii(other.text):
        return 1.0
    if spelled_alike(one, other, "organization"):
        return _SPELLED_SCORE
    return _MISSPELT_SCORE if _is_misspelt(vendor_name(first), vendor_name(second)) else 0.0


def vendor_keys(name: str) -> Iterator[str]:
    """Keys of which two names that are alike share one."""
    normal = vendor_name(name)
    yield normal
    yield "".join(normal.split())
    yield in_german_ascii(vendor_form(name).text)
    # Of two names with a letter wrong, what is left of it is the same.
    words = normal.split()
    for at, word in enumerate(words):
        if len(word) >= _SHORTEST_MISSPELT:
            rest = " ".join([*words[:at], "", *words[at + 1 :]])
            yield f"{rest} {word[:3]}"
            yield f"{rest} {word[-3:]}"


def _is_misspelt(first: str, second: str) -> bool:
    """Whether one long word has a letter too many or too few, or two swapped, within it."""
    one, other = first.split(), second.split()
    if len(one) != len(other):
        return False
    different = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    if len(different) != 1:
        return False
    word, twin = different[0]
    if min(len(word), len(twin)) < _SHORTEST_MISSPELT or not (word + twin).isalpha() or word[0] != twin[0]:
        return False
    # A letter for another one is a name of its own: `Hanson Brothers`, `Hansen Brothers`.
    return (
        (len(word) != len(twin) or sorted(word) == sorted(twin))
        and OSA.distance(word, twin) == 1
        and word[-1] == twin[-1]
    )


def vendors_said(text: str) -> Iterator[tuple[int, int]]:
    """Where a text says that something is a company's name: behind `Vendor:`, or before a legal form."""
    for label in _LABEL.finditer(text):
        line, *_ = _LINE_END.split(text[label.end() : label.end() + _LONGEST], maxsplit=1)
        end = label.end() + len(line.rstrip())
        if is_vendor_name(text[label.end() : end]):
            yield label.end(), end
    for form in _FORM.finditer(text):
        begun = _name_before(text, form.start())
        if begun < form.start():
            yield begun, form.end() + text.startswith(".", form.end())


def _name_before(text: str, end: int) -> int:
    """Where the words with capitals begin that end there; `end` where there are none."""
    start, taken = end, 0
    while taken < _MOST_BEFORE:
        head = text[max(0, start - _LONGEST_WORD) : start]
        word = head.rstrip(", ").rpartition(" ")[2]
        at = start - len(head) + len(head.rstrip(", ")) - len(word)
        if (
            head.strip(" ,") != head.strip(", \u00a0")
            or not word
            or "\n" in word
            or word.endswith((".", ":", ";"))
        ):
            break
        joins = (word == "&" or word in _JOINS) and taken > 0
        if not joins and (not word[0].isupper() or _plain(word) in _BESIDE):
            break
        start, taken = at, taken + 1
    while text[start:end].partition(" ")[0] in {"&", *_JOINS} and " " in text[start:end]:
        start += text[start:end].index(" ") + 1
    return start


class KnownVendors:
    """The names that fields call vendors, to be found in texts."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names: dict[tuple[str, ...], str] = {}
        self._compact: dict[str, str] = {}
        sizes: dict[str, set[int]] = {}
        for normal in sorted({vendor_name(name) for name in names}):
            words = tuple(map(_plain, _TOKEN.findall(normal)))[:_MOST_WORDS]
            if not words or (len(words) == 1 and len(words[0]) < _SHORTEST_NAMED):
                continue
            self._names.setdefault(words, normal)
            sizes.setdefault(words[0], set()).add(len(words))
            if len("".join(words)) >= _SHORTEST_COMPACT:
                self._compact.setdefault("".join(words), normal)
        # The longer names first: what a text says is the longest that it may be.
        self._sizes = {first: sorted(some, reverse=True) for first, some in sizes.items()}

    def in_text(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where a text names one of them: from where to where, and its normal form."""
        said = {_plain(word) for word in set(_TOKEN.findall(text))}
        if self._sizes.keys().isdisjoint(said | {_owner(word) for word in said}):
            return
        tokens = list(_TOKEN.finditer(text))
        words = [_plain(token[0]) for token in tokens]
        at = 0
        while at < len(tokens):
            found = self._named(text, tokens, words, at)
            if found is not None:
                size, normal = found
                yield tokens[at].start(), _end(tokens[at + size - 1]), normal
                at += size - 1
            at += 1

    def _named(
        self, text: str, tokens: list[re.Match[str]], words: list[str], at: int
    ) -> tuple[int, str] | None:
        """How many words the name has that begins at one, and its normal form."""
        for size in self._sizes.get(words[at]) or self._sizes.get(_owner(words[at])) or ():
            some = tuple(words[at : at + size])
            normal = self._names.get(some) or self._names.get((*some[:-1], _owner(some[-1])))
            if normal is None or len(some) < size:
                continue
            # A name of one word is written with a capital; else it may be any word.
            written = size > 1 or tokens[at][0][0].isupper() or tokens[at][0].isdigit()
            last = at + size - 1
            if written and not _goes_on(text, tokens, last) and not _began_before(text, tokens, at):
                return size, normal
        return None

    def by_domain(self, label: str | None) -> str | None:
        """The one whose name, written in one word, is a domain's."""
        return self._compact.get(label) if label else None


def _goes_on(text: str, tokens: list[re.Match[str]], last: int) -> bool:
    """Whether the name has another word behind it: then it is another one."""
    if last + 1 >= len(tokens) or words_apart(text[tokens[last].end() : tokens[last + 1].start()]):
        return False
    after = tokens[last + 1][0]
    if after in ("&", "+"):
        return last + 2 < len(tokens) and tokens[last + 2][0][0].isupper()
    plain = _plain(after)
    return (
        after[0].isupper()
        and plain not in _BESIDE
        and not is_form_word(plain)
        and not _is_number(text, tokens[last + 1])
    )


def _began_before(text: str, tokens: list[re.Match[str]], at: int) -> bool:
    if not at or words_apart(text[tokens[at - 1].end() : tokens[at].start()]):
        return False
    before = tokens[at - 1][0]
    if before in ("&", "+"):
        return at > 1 and tokens[at - 2][0][0].isupper()
    if not before[0].isupper() or _plain(before) in _BESIDE:
        return False
    # At the beginning of a sentence any word has a capital.
    return at > 1 and not words_apart(text[tokens[at - 2].end() : tokens[at - 1].start()])


def words_apart(between: str) -> bool:
    """Whether what stands between two words parts two names: more than a blank, a hyphen or an `&`."""
    return (
        between.strip(" \t\u00a0&.-") != "" or "\n" in between or " - " in between or between.strip() == "."
    )


def _is_number(text: str, token: re.Match[str]) -> bool:
    """`INV` of `INV-2041`."""
    return (
        text[token.end() : token.end() + 1] in ("-", "/", "#")
        and text[token.end() + 1 : token.end() + 2].isdigit()
    )


def _plain(word: str) -> str:
    if word in ("&", "+"):
        return "and" if word == "&" else word
    if word in _ANDS:
        return "and"
    return without_accents(word).replace("'", "").replace("’", "").replace("ʼ", "")


def _owner(word: str) -> str:
    """A name without the `s` of what is its own."""
    return word.removesuffix("s")


def _end(token: re.Match[str]) -> int:
    for mark in "'’ʼ":
        head, found, tail = token[0].rpartition(mark)
        if found and tail.casefold() == "s":
            return token.start() + len(head)
    return token.end()
