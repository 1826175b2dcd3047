"""What keeps a sentence from being quoted by itself: it leans on others, or is no statement.

Called by whoever offers sentences to a model that picks among them. By signs that are simple and strict: a
good sentence left out costs little, a bad one in an article much. Takes time linear in the sentence.
"""

import re
from typing import Literal

from actors.platform.extractive.phrases import (
    BOILERPLATE,
    BOILERPLATE_AT_START,
    connecting,
    leaning,
    stands_at,
)
from actors.platform.text.language import Language
from actors.platform.text.lexicon import pattern, pattern_in
from actors.platform.text.normal_form import words
from actors.platform.text.sentences.sentence_boundaries import ends, left_open

Fault = Literal[
    "needs_antecedent",
    "fragment",
    "boilerplate",
    "question",
    "unbalanced",
    "too_long",
    "heading_like",
    "address",
]

_MOST_CHARACTERS = 400
_MOST_READ = 2_000
_FEWEST_WORDS = 4
_FEWEST_LETTERS = 8
_CAPITALS = 0.6
_ENDING = 12
_GREETING_WORDS = 4
# "III. dismisses the rest": an item of a list whose beginning stands above it.
_ITEM_GOES_ON = re.compile(r"(?:[IVXLC]{1,6}|\d{1,3}|[a-z])[.)]\s+[^\W\d_A-ZÀ-Ž]")
_AGENDA = re.compile(r"(?:TOP|Punkt|Pkt|Item|Agenda item) \d{1,3}[:.]")
_MONEY = "$€£¥"
_QUOTES = "\"'“„«»‚‘"
_OPENING = "\"'“„«»‚‘”([¿¡ "
_WORD = re.compile(r"[^\W_]+")
_ASKED = re.compile(r"\?[.!?…]{0,4}[\"'”“»«’)\]]{0,4}\Z")
# "The county counted 212 dry wells in the …": what is cut off there may say otherwise.
_TRAILS_OFF = re.compile(r"(?:\.\.|…|\[…\])[\"'”“»«’)\]]{0,4}\Z")
# Lengths are bounded, so that a run of letters is not read again from each of them.
_ADDRESS = re.compile(
    r"[a-z][a-z+.-]{1,10}://|\bwww\.|\bmailto:|[\w.+-]@\w|(?<![\w@])@\w{2}"
    r"|(?<![\w.@-])[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,3}\.(?:com|org|net|gov|edu|info|io|eu|pl|de|uk|at|ch)\b"
    r"|\]\(|\b(?:tel|fon|phone)\b\.?:? ?[+(]?\d"
    r"|(?<![\w+])\+\d{1,3}[ ()/.-]{0,2}\d(?:[ ()/.-]{0,2}\d){6,14}(?!\w)"
    r"|(?<![\w.,])\(?0\d{1,4}\)?[ /-]\d{3,8}(?:[ -]\d{2,4}){0,3}(?![\w%])"
    r"|(?<![\w.,-])\(?\d{3}\)?[ .-]\d{3}[-.]\d{4}(?!\w)"
    r"|(?<![\w.,-])\d{3}-\d{3}-\d{3}(?!\w)",
    re.IGNORECASE,
)
_LEFT_OVER = re.compile(
    r"\*\*|__|```|~~|</?[a-z!][^<>]{0,200}>|&(?:[a-z]{2,8}|#\d{1,6});|\|| › | » .{1,60} » |[©®]|\{\{|<\|",
    re.IGNORECASE,
)

_FILE = "quoting"
_CREDIT = pattern(_FILE, "credit", r"{}\s?:")

_STANDS = pattern(_FILE, "stands", r"{}\b")
# A speaker's name hides the pronoun behind it: "Ruth Adeyemi: They help."
_NAMED = re.compile(
    r"(?:[^\W\d_][\w.'’-]{0,30} ){0,7}[^\W\d_][\w.'’-]{0,30}(?: \([^()]{1,40}\)){0,2}: (?=\S)"
)
# To a model, whatever it is told to do.
_TO_MODELS = pattern(_FILE, "to_models")


def why_not_quotable(sentence: str, language: Language) -> tuple[Fault, ...]:
    """All that keeps a sentence from being quoted by itself; nothing where it can be."""
    said = sentence[:_MOST_READ].strip()
    told = words(said).split()
    found: dict[Fault, bool] = {
        "needs_antecedent": _leans(said, told, language),
        "fragment": _is_fragment(said),
        "boilerplate": _is_boilerplate(said, told),
        "question": _ASKED.search(said[-_ENDING:]) is not None,
        "unbalanced": left_open(said) != 0,
        "too_long": len(said) > _MOST_CHARACTERS,
        "heading_like": _is_heading(said),
        "address": _ADDRESS.search(said) is not None,
    }
    return tuple(fault for fault, there in found.items() if there)


def _leans(said: str, told: list[str], language: Language) -> bool:
    start = said.lstrip(_OPENING)
    if (label := _NAMED.match(start)) is not None:
        start = start[label.end() :].lstrip(_OPENING)
        told = words(start).split()
    if pattern_in(language, _FILE, "expletive").match(start) or _STANDS.match(start):
        return False
    return (
        stands_at(leaning(language), told, 0)
        or not connecting(language).isdisjoint(told[1:4])
        or pattern_in(language, _FILE, "points_back").match(start) is not None
        or _is_bare_speech(said)
    )


def _is_bare_speech(said: str) -> bool:
    """All of it stands in one pair of quotation marks: who says so was named before."""
    return said[:1] in _QUOTES and left_open(said[:-1].rstrip(".!?…")) == 1 and left_open(said) == 0


def _is_fragment(said: str) -> bool:
    start = said.lstrip(_QUOTES)[:2]
    begun = start[:1].isupper() or start[:1].isdigit() or (start[:1] in _MONEY and start[1:].isdigit())
    return (
        not begun
        or makes_no_statement(said)
        or _ITEM_GOES_ON.match(said) is not None
        or not ends(said)
        or _TRAILS_OFF.search(said[-_ENDING:]) is not None
        or not any(character.isalpha() for character in said)
    )


def makes_no_statement(said: str) -> bool:
    """Whether it only calls on somebody ("My lords!") or has too few words, its speaker's name apart."""
    label = _NAMED.match(said)
    bare = said[label.end() if label else 0 :].strip()
    calls = bare.split("!")
    greets = len(calls) > 1 and not calls[-1] and all(len(call.split()) <= _GREETING_WORDS for call in calls)
    return greets or len(_WORD.findall(bare)) < _FEWEST_WORDS


def _is_boilerplate(said: str, told: list[str]) -> bool:
    return (
        stands_at(BOILERPLATE_AT_START, told, 0)
        or any(stands_at(BOILERPLATE, told, place) for place in range(len(told)))
        or _CREDIT.search(said) is not None
        or _TO_MODELS.search(said) is not None
        or _LEFT_OVER.search(said) is not None
    )


def _is_heading(said: str) -> bool:
    if _AGENDA.match(said):
        return True
    letters = [character for character in said if character.isalpha()]
    if len(letters) >= _FEWEST_LETTERS and sum(map(str.isupper, letters)) > _CAPITALS * len(letters):
        return True
    spoken = _WORD.findall(said)
    capitals = sum(not word[:1].islower() for word in spoken)
    return not ends(said) and capitals > _CAPITALS * len(spoken)
