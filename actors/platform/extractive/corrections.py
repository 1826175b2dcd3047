"""What a text takes back elsewhere: corrections, updates, retractions, and verdicts on what stands above.

Called by `quotable`, which offers nothing that was set right, and by whoever doubts a quotation. Which
sentence a correction is about is told by the words they share: by half of them, by a few where none has so
many, or else by any.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from actors.platform.extractive.own_notes import adds, retracts, sets_right, subject_of
from actors.platform.text.language import Language
from actors.platform.text.lexicon import phrase_pattern
from actors.platform.text.relevance import content_words
from actors.platform.text.sentences.sentences import Sentence, sentences

_FILE = "voices"
_LABEL = re.compile(
    r"[\W_]{0,8}(?P<name>[^\W\d_][^:*_\n!?–—(,]{0,40}?)(?:\s?[,(][^:\n]{0,40}|\s\d[^:\n]{0,20})?[*_]{0,3}\s?[:：–—]"
)
# A heading, or a line of its own.
_LINE = re.compile(r"^[ \t#*_]{0,8}(?P<name>[^\n:*_]{3,40}?)[ \t*_:]{0,6}$", re.MULTILINE)
_DIGIT, _LONGEST_DAY = re.compile(r"\d"), 25
_WORD = re.compile(r"\w+")
_MARKS = " *_:：–—-[(>"
_AROUND = " \t*_.!…?:–—-#>|[](),“”„«»\"'’"
# Inflected words share their beginning, short ones less of it.
_BEGINNING, _FEWER = 5, 4
# The share of a sentence's words from which on a correction is about it; where it is about none, from which.
_SAME, _LIKE = 0.5, 0.25
_FEWEST = 2
_MOST_WORDS = 10
_LONGEST_LINE = 400
_MOST_NOTES = 20
# Sentences of a paragraph that is a note as a whole.
_LONGEST_NOTE = 4


class Corrections:
    """The sentences with which a text sets something right (`told`), and those that they are about."""

    def __init__(self, text: str, everything: Sequence[Sentence], language: Language) -> None:
        self.is_retracted = _is_retracted(text, everything, language)
        told = list(_told(text, everything, language))
        self.told = [one for one, _ in told]
        sure = {one.paragraph for one, is_sure in told if is_sure}
        notes: dict[int, list[str]] = {}
        within = {one.paragraph for one in self.told}
        for one in everything:
            if one.paragraph in within:
                # Of a text of nothing but notes the last are read as one.
                is_own = one.paragraph in notes or len(notes) < _MOST_NOTES
                notes.setdefault(one.paragraph if is_own else -1, []).append(one.text)
        others = [(one.start, content_words(one.text)) for one in everything if one.paragraph not in within]
        self._words = _beginnings(" ".join(" ".join(note) for note in notes.values()))
        self._withheld = {one.start for one in self.told} | set(_rest_of_notes(everything, told))
        for paragraph, note in notes.items():
            said = " ".join(note)
            self._withheld |= _about(said, subject_of(said, language), others, is_sure=paragraph in sure)

    def withhold(self, one: Sentence) -> bool:
        """Whether a sentence was set right elsewhere, or only says that something was."""
        return self.is_retracted or one.start in self._withheld

    def share_of(self, sentence: str) -> float:
        """The share of a sentence's words that the corrections have, 0 to 1."""
        return _share(content_words(sentence), self._words)


def _about(
    note: str, subject: str, others: Sequence[tuple[int, frozenset[str]]], *, is_sure: bool
) -> set[int]:
    """Where the sentences start that a note is about.

    Where that can't be told, and it is sure that something was wrong: all that are on its subject.
    """
    for words, least in ((_beginnings(note), _SAME), (_beginnings(subject), _LIKE)):
        shares = {start: _share(content, words) for start, content in others}
        if found := {start for start, share in shares.items() if share >= least}:
            return found
    wide = {word[:_FEWER] for word in content_words(subject)} if is_sure else set()
    return {start for start, content in others if not wide.isdisjoint(word[:_FEWER] for word in content)}


def _rest_of_notes(everything: Sequence[Sentence], told: Sequence[tuple[Sentence, bool]]) -> Iterator[int]:
    """Where the sentences start of short paragraphs that begin by setting something right."""
    sure = {one.start for one, is_sure in told if is_sure}
    for _, paragraph in groupby(everything, key=lambda one: one.paragraph):
        starts = [one.start for one in islice(paragraph, _LONGEST_NOTE + 1)]
        if starts[0] in sure and len(starts) <= _LONGEST_NOTE:
            yield from starts


def _share(content: frozenset[str], words: set[str]) -> float:
    mine = {word[:_BEGINNING] for word in content}
    same = len(mine & words)
    return same / len(mine) if same >= _FEWEST else 0.0


def _told(text: str, everything: Sequence[Sentence], language: Language) -> Iterator[tuple[Sentence, bool]]:
    """The sentences that set something right, or else (not sure) may only add something."""
    labels = [phrase_pattern(language, (_FILE, key)) for key in ("correction_labels", "update_labels")]
    says_so = phrase_pattern(language, (_FILE, "corrections"))
    starts = [one.start for one in everything]
    lines = [(bisect_left(starts, line.end()), line["name"].strip()) for line in _LINE.finditer(text)]
    for_sure, added = ({place for place, name in lines if _is_label(name, label)} for label in labels)
    for place, one in enumerate(everything):
        names = _names(one.text)
        if (
            place in for_sure
            or any(_is_label(name, labels[0]) for name in names)
            or says_so.search(one.text)
            or sets_right(one.text, language)
        ):
            yield one, True
        elif place in added or any(_is_label(name, labels[1]) for name in names) or adds(one.text, language):
            yield one, False


def _names(sentence: str) -> tuple[str, ...]:
    """What a sentence is called by the label that it begins with, without and with what else that says."""
    called = _LABEL.match(sentence)
    return (called["name"].strip(), called[0].strip(_MARKS)) if called else ()


def _is_label(name: str, label: re.Pattern[str]) -> bool:
    """Whether a name is that of a note, with its day or without: `Correction`, `Korrektur vom 4. Mai`."""
    found = label.match(name)
    rest = name[found.end() :] if found else ""
    return found is not None and (not rest or (_DIGIT.search(rest) is not None and len(rest) <= _LONGEST_DAY))


def _is_retracted(text: str, everything: Sequence[Sentence], language: Language) -> bool:
    """Whether a text is taken back as a whole, in a sentence or by what stands above or below all of it."""
    phrases = phrase_pattern(language, (_FILE, "retractions"))
    first, last = (everything[0], everything[-1]) if everything else (None, None)
    around = (text[: first.start], text[last.end :]) if first and last else (text,)
    if any(
        retracts(line[:_LONGEST_LINE], language, is_note=True)
        for part in around
        for line in part.splitlines()
    ):
        return True
    edges = {one.paragraph for one in (first, last) if one}
    return any(
        phrases.search(one.text) or retracts(one.text, language, is_note=one.paragraph in edges)
        for one in everything
    )


def corrects(note: str, language: Language) -> bool:
    """Whether what stands by itself, beside a text, is a note that sets it right or takes it back."""
    label = phrase_pattern(language, (_FILE, "correction_labels"))
    return (
        any(_is_label(name, label) for name in (note.strip(_MARKS), *_names(note)))
        or retracts(note[:_LONGEST_LINE], language, is_note=True)
        or any(
            sets_right(one.text, language) or retracts(one.text, language, is_note=True)
            for one in sentences(note, language)
        )
    )


def is_verdict(sentence: str, language: Language) -> bool:
    """Whether a sentence only says that what stands before it does not hold, or that somebody denies it.

    `False.`, `None of this is true.`, `This claim is false: nobody died.`, `The mayor denied this on Monday.`
    """
    said, colon, behind = sentence.partition(":")
    return _calls_false(behind if colon else said, language) or bool(
        behind.strip(_AROUND) and _points(said, language) and _calls_false(said, language)
    )


def leads_to_verdict(heading: str, language: Language) -> bool:
    """Whether a heading says that what stands above it is judged below: `Our verdict`, `Fact`."""
    return _of(language, "facts").fullmatch(heading.strip(_AROUND)) is not None


def _calls_false(told: str, language: Language) -> bool:
    bare = told.strip(_AROUND)
    count = len(_WORD.findall(bare))
    if count <= _MOST_WORDS and _of(language, "whole_verdicts").fullmatch(bare):
        return True
    found = _of(language, "verdicts").search(bare)
    if found is not None and 2 * len(_WORD.findall(found[0])) >= count:
        return True
    if count > _MOST_WORDS:
        return False
    if _of(language, "negation").search(bare):
        found = found or _of(language, "truth").search(bare)
    if found is not None:
        # "It is not true that …": what does not hold stands behind it.
        return _points(bare, language) and not _of(language, "clause_openers").match(
            bare[found.end() :].lstrip(", ")
        )
    denied = _of(language, "denies").search(bare)
    return denied is not None and _points_next(bare[denied.end() :].lstrip(), language)


def _points(told: str, language: Language) -> bool:
    """Whether it is about what was said before; "das" within a clause is an article.

    "The claim that the river is clean is false" says itself what it is about.
    """
    openers, at_start = _of(language, "clause_openers"), _of(language, "points_at_start")
    behind = (told[one.end() :] for one in _of(language, "points").finditer(told))
    return any(map(at_start.match, told.split(", "))) or any(
        not rest.startswith(",") and not openers.match(rest.lstrip()) for rest in behind
    )


def _points_next(told: str, language: Language) -> bool:
    return any(_of(language, key).match(told) for key in ("points_at_start", "points"))


def _of(language: Language, key: str) -> re.Pattern[str]:
    return phrase_pattern(language, (_FILE, key))


def _beginnings(text: str) -> set[str]:
    return {word[:_BEGINNING] for word in content_words(text)}
