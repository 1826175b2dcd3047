"""A name cut into the words by which it is compared.

Punctuation parts words and goes, but for what tells one from another: signs of quantity, a
minus or plus beside a word (`BBB-`), whatever stands between two digits (`3.5`, `3-5`), and raised digits
(`10²` is not `102`). Digits behind letters are words of their own, so that `F-16`, `F16` and `F 16` are one.
"""

import re
import unicodedata
from itertools import pairwise

from models.knowledge.points import EntityType
from models.text import one_line

_LONGEST = 200
_LETTER = r"[^\W\d_]"
# `U.S.`, `U. S.`, `U.S`; `S. A.` of a company.
_DOTTED = re.compile(
    rf"(?<![\w.]){_LETTER}\.(?:(?:\s?{_LETTER}\.){{1,7}}(?:{_LETTER}(?!\w))?|{_LETTER}(?![\w.]))"
)
_DOTTED_FORMS = {"SPA": "SpA"}
_IN_WORD = re.compile(rf"(?<={_LETTER})['’ʼ](?={_LETTER})")
_PLAIN = re.compile(r"(?:[^\W_]| )*\Z")
_SEAM = re.compile(rf"(?<={_LETTER})(?=\d)")
# Trade marks, and what only picks another picture for a sign.
_UNSAID = {ord(char): " " for char in "™℠®©"} | dict.fromkeys(range(0xFE00, 0xFE10))
_HYPHENS = str.maketrans(dict.fromkeys("‐‑‒–−", "-"))
# Of words of their own, as currencies are.
_QUANTITY = frozenset("%‰<>±¬≤≥≠")
_BETWEEN_DIGITS = {",": ".", "’": "'", "—": "-", "⁄": "/"}
_SIGNED = re.compile(r"[+#*^%‰<>±¬≤≥≠]|\A[-.]|-\Z")
# Behind the last comma of a person's name; what else stands there is the given name.
_SUFFIXES = frozenset({"jr", "sr", "phd", "md", "mba", "esq", "ii", "iii", "iv"})
_MOST_INITIALS = 3


def tokenize_name(name: str, entity_type: EntityType) -> list[str]:
    """A name's words as they are written; none, where there is nothing but punctuation."""
    line = _folded(one_line(name)[:_LONGEST]).translate(_HYPHENS)
    line = _given_name_first(line) if entity_type == "person" else _DOTTED.sub(_without_dots, line)
    line = _IN_WORD.sub("", line.replace("&", " and "))
    if not _PLAIN.match(line):
        line = _without_punctuation(line)
    words = _SEAM.sub(" ", line).split()
    return _initials_apart(words) if entity_type == "person" else words


def has_sign(word: str) -> bool:
    """Whether a word has, or is, a sign that counts."""
    return bool(_SIGNED.search(word)) or not any(map(str.isalnum, word))


def _folded(line: str) -> str:
    """In Unicode's NFKC, but what is no digit of a number stays apart from its digits."""
    if line.isascii():
        return line
    apart = []
    for before, char in pairwise(f" {line.translate(_UNSAID)}"):
        kind = unicodedata.decomposition(char).partition(">")[0]
        if before.isdecimal() and kind in ("<super", "<sub", "<fraction", "<circle", "<compat"):
            folded = unicodedata.normalize("NFKC", char)
            if any(map(str.isdigit, folded)) or folded in "+−":
                apart.append("^" if kind == "<super" else " ")
        apart.append(char)
    return unicodedata.normalize("NFKC", "".join(apart))


def _without_dots(found: re.Match[str]) -> str:
    letters = "".join(filter(str.isalpha, found[0]))
    return _DOTTED_FORMS.get(letters.upper(), letters) + " "


def _without_punctuation(line: str) -> str:
    kept: list[str] = []
    for place, char in enumerate(line):
        before, after = line[place - 1 : place] or " ", line[place + 1 : place + 2] or " "
        mark = unicodedata.category(char)[0] == "M"
        if char.isalnum() or char in "+#" or (mark and kept and not kept[-1].isspace()):
            kept.append(char)
        else:
            alone = not line[max(0, place - 2) : max(0, place - 1)].strip()
            kept.append(_said(char, before, after, alone=alone))
    return "".join(kept)


def _said(char: str, before: str, after: str, *, alone: bool) -> str:
    """What a sign between two others says, a blank if nothing; `alone`: one character goes before it."""
    if char in _QUANTITY or unicodedata.category(char) == "Sc":
        return f" {char} "
    if before.isdigit() and (after.isdigit() or (char == "^" and after == "-")):
        return _BETWEEN_DIGITS.get(char, char) if not char.isspace() else " "
    ends = after.isspace() or after in "),;/"
    begins = (before.isspace() or before in "(^") and (after.isalnum() or unicodedata.category(after) == "Sc")
    if (char == "-" and (begins or (before.isalnum() and ends))) or (char == "." and begins):
        return char
    # `A*`; behind a longer word it points to a note.
    return char if char == "*" and alone and before.isalpha() and not after.isalnum() else " "


def _given_name_first(line: str) -> str:
    # `Kowalski, Jan`; but not `King, Jr.`
    if line.count(",") != 1:
        return line
    last, first = line.split(",")
    return line if first.replace(".", "").strip().casefold() in _SUFFIXES else f"{first} {last}"


def _initials_apart(words: list[str]) -> list[str]:
    """A person's words with `JK` as `J.K.` is written; not where the whole name is in capitals."""
    if all(map(str.isupper, words)):
        return words
    apart: list[str] = []
    for word in words[:-1]:
        initials = 1 < len(word) <= _MOST_INITIALS and word.isalpha() and word.isupper()
        apart.extend(word if initials and word not in ("DR", "MR", "MRS", "MS") else [word])
    return apart + words[-1:]
