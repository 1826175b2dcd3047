"""Whether a sentence sets right, or takes back, the very text that it stands in.

Called by `corrections`. It is told by two things that stand together in one clause: a word for this text or
for who makes it, and a word for an error, a change or a withdrawal. Others' corrections, of which a text only
reports, have the second alone.
"""

import re
from itertools import islice

from actors.platform.text.language import Language
from actors.platform.text.lexicon import phrase_pattern, word_set

_FILE = "voices"
_WORD = re.compile(r"\w+")
_CLAUSE_END = re.compile(r"[;:–—(]")
_QUOTED = re.compile(r"[“„«»\"][^“”„«»\"]{0,400}[”“«»\"]")
_DAY = re.compile(r"(?:[^\W\d_]{1,20}\s)?\d[\d.,:/]{0,12}(?:\s[^\W\d_]{1,20})?(?:\s\d{4})?")
_OWN = (
    "this_text", "in_text", "this_paper", "texts", "makers", "errors", "additions", "admits", "at_first",
    "reported", "withdrawn", "correction_labels", "update_labels",
)  # fmt: skip
_MARKS = "*_[]#> \t"
# A note that only names a text, and not that it is this one, is no longer than this.
_SHORT, _HEADING, _ALONE = 10, 5, 2
_MOST = 8


def sets_right(sentence: str, language: Language) -> bool:
    """Whether a sentence says that something in this text was wrong, or has been changed.

    `A figure in this story was inaccurate.`, `We apologise.`, `We originally reported that it was sold.`
    """
    own = _QUOTED.sub(" ", sentence)
    if _is_asked(own, language):
        return False
    if _of(language, "reported").search(own):
        is_first, is_ours = (_of(language, key).search(own) for key in ("at_first", "makers"))
        is_here = _of(language, "this_text", "in_text").search(own)
        is_contrary = _of(language, "contrary").search(own)
        if (is_first and (is_ours or is_here)) or (is_contrary and (is_first or is_ours)):
            return True
    errors = _of(language, "errors")
    return (
        _in_one_clause(own, _of(language, "this_text", "in_text"), errors, language)
        or _in_one_clause(own, _of(language, "makers"), _of(language, "admits"), language)
        or _side_by_side(own, _of(language, "this_paper"), errors, language)
        or _side_by_side(own, _of(language, "texts"), errors, language, at_start=True)
    )


def adds(sentence: str, language: Language) -> bool:
    """Whether a sentence says that this text has been worked on: it may only have been added to."""
    own, additions = _QUOTED.sub(" ", sentence), _of(language, "additions")
    return not _is_asked(own, language) and (
        _in_one_clause(own, _of(language, "this_text", "in_text"), additions, language)
        or _side_by_side(own, _of(language, "texts"), additions, language, at_start=True)
    )


def subject_of(note: str, language: Language) -> str:
    """What a note is about: without its words for this text and for an error, and without days."""
    bare, links = _DAY.sub(" ", _of(language, *_OWN).sub(" ", note)), word_set(language, _FILE, "links")
    return " ".join(word for word in _WORD.findall(bare) if word.casefold() not in links)


def _is_asked(sentence: str, language: Language) -> bool:
    """Whether it asks its readers to tell of errors, as many pages do."""
    return sentence.rstrip(_MARKS).endswith("?") or _of(language, "asks").search(sentence) is not None


def retracts(sentence: str, language: Language, *, is_note: bool) -> bool:
    """Whether a sentence takes back this text as a whole.

    Args:
        sentence: one of the text's.
        language: the text's.
        is_note: it stands where notes on a text do. Elsewhere "this study" may be one that the text is about.
    """
    own = _QUOTED.sub(" ", sentence).strip(_MARKS)
    withdrawn = _of(language, "withdrawn")
    found = withdrawn.search(own)
    if found is None:
        return False
    count = len(_WORD.findall(own))
    is_label = found.start() == 0 and own[found.end() : found.end() + 1] == ":"
    if is_note and (is_label or count <= _ALONE):
        return True
    texts = _of(language, "texts")
    return (
        _side_by_side(own, _of(language, "this_text"), withdrawn, language)
        or (
            _side_by_side(own, _of(language, "makers"), withdrawn, language) and texts.search(own) is not None
        )
        or (
            is_note
            and count <= _SHORT
            and _side_by_side(own, _of(language, "this_paper"), withdrawn, language)
        )
        or (is_note and count <= _HEADING and _side_by_side(own, texts, withdrawn, language, at_start=True))
    )


def _of(language: Language, *keys: str) -> re.Pattern[str]:
    return phrase_pattern(language, *((_FILE, key) for key in keys))


def _in_one_clause(text: str, named: re.Pattern[str], sign: re.Pattern[str], language: Language) -> bool:
    openers = _of(language, "clause_openers")
    return any(not _CLAUSE_END.search(gap) and not openers.search(gap) for gap in _between(text, named, sign))


def _side_by_side(
    text: str, named: re.Pattern[str], sign: re.Pattern[str], language: Language, *, at_start: bool = False
) -> bool:
    """Whether only words that link them stand between the two: `this article has since been withdrawn`."""
    links = word_set(language, _FILE, "links") | word_set(language, _FILE, "texts_alone")
    first = named.search(text) if at_start else None
    if at_start and (first is None or first.start() > 0):
        return False
    return any(
        all(word in links for word in _WORD.findall(gap.casefold())) and not _CLAUSE_END.search(gap)
        for gap in _between(text, named, sign)
    )


def _between(text: str, named: re.Pattern[str], sign: re.Pattern[str]) -> list[str]:
    """What stands between each of the one and each of the other, in either order; of the first few."""
    signs = [one.span() for one in islice(sign.finditer(text), _MOST)]
    return [
        text[min(one.end(), end) : max(one.start(), start)]
        for one in islice(named.finditer(text), _MOST)
        for start, end in signs
    ]
