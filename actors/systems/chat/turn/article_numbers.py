"""What a person names in a message: articles ("article 12", "#12", "artykuł 12", "Artikel 12"), documents.

Called by the agents that change articles or fetch documents, on the person's own words only. What is not
plainly the number of an article is none: "publish 3 articles" and "the outlook for 2026" name no article.
"""

import re

_NUMBER = r"([0-9]{1,15})(?![0-9]|[.,][0-9]|\s*%)"
_NOUN = r"(?:articles?|drafts?|artyku[łl]\w*|szkic\w*|artikel\w*|entw[uü]rf\w*)"
_COUNTED = r"(?:\s*(?:id|no|nr|number|numer|nummer)\b\.?)?[\s:]*#?"
# Spaces stand before each separator and before the number, and nowhere twice: that is what keeps this linear.
_AND = r"(?:\s*(?:,|&|\b(?:and|or|i|oraz|lub|und|oder)\b))+\s*#?"
_NAMED = re.compile(rf"\b{_NOUN}{_COUNTED}{_NUMBER}((?:{_AND}{_NUMBER})*)", re.IGNORECASE)
_HASH = re.compile(rf"(?<![\w#&/])#{_NUMBER}")
_DIGITS = re.compile(r"[0-9]+")
_WORD = re.compile(r"\w+", re.UNICODE)
_POLITE = frozenset(("please", "pls", "proszę", "prosze", "bitte", "thanks", "dzięki", "danke"))
# "submit 12", "please publish it: 12"; in a longer message a bare number may be anything.
_WORDS_BEFORE_BARE = 2
_YEARS = range(1900, 2101)
_ADDRESS = re.compile(r"https?://[^\s<>\"'`]+", re.IGNORECASE)
_PDF = re.compile(r"\.pdf($|[?#])", re.IGNORECASE)
_MOST_DOCUMENTS = 3


def articles_named(text: str, *, bare: bool = True) -> tuple[int, ...]:
    """The numbers of articles named in `text`, in order and without repeats; empty where none is.

    `bare`: the one number of a short message, too.
    """
    found: dict[int, int] = {}
    for match in _NAMED.finditer(text):
        for digits in _DIGITS.finditer(text, match.start(1), match.end()):
            found.setdefault(int(digits[0]), digits.start())
    for match in _HASH.finditer(text):
        found.setdefault(int(match[1]), match.start())
    found.pop(0, None)
    if not found and bare:
        return _bare(text)
    return tuple(sorted(found, key=lambda number: found[number]))


def pdf_addresses(text: str) -> tuple[str, ...]:
    """The addresses of PDFs that a person wrote, each once, at most three, if they can be shown."""
    found = (address.rstrip(".,;:!?)") for address in _ADDRESS.findall(text))
    plain = (address for address in found if address.isprintable() and _PDF.search(address))
    return tuple(dict.fromkeys(plain))[:_MOST_DOCUMENTS]


def _bare(text: str) -> tuple[int, ...]:
    """The one number that ends a short message."""
    words = [word for word in _WORD.findall(text.lower()) if word not in _POLITE]
    numbers = re.findall(rf"(?<![\w.,#]){_NUMBER}(?!\w)", text)
    if len(numbers) != 1 or len(words) > _WORDS_BEFORE_BARE + 1 or words[-1] != numbers[0]:
        return ()
    number = int(numbers[0])
    return () if number == 0 or number in _YEARS else (number,)
