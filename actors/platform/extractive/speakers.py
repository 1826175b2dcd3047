"""Who says a sentence, where a text has names before what they say: transcripts, debates, interviews.

Called where sentences are offered to be quoted, and by whoever doubts them. A label counts as a name by its
form; what is taken for one wrongly costs sentences, what is missed gives somebody's words no name.
"""

import re
from collections import Counter
from collections.abc import Sequence

from actors.platform.text.language import Language
from actors.platform.text.lexicon import alternatives, phrase_pattern, words_of_all
from actors.platform.text.sentences.sentences import Sentence

_WORD = r"[A-ZÀ-Ž][\w.'’-]{0,30}"
_TIME = r"(?:[\[(]?\d{1,2}:\d\d(?::\d\d)?[\])]?[ \t]{0,3})?(?:>>[ \t]{0,3})?"
_ASIDE = r"(?:,[ \t][^,:;.\d\n]{1,60})?(?:[ \t]\([^()\n]{1,40}\)){0,2}"
_ROLE = rf"(?i:{alternatives('quoting', 'speaker_roles')})(?:[ \t]\d{{1,2}})?"
_LABEL = rf"{_WORD}(?:[ \t](?:{_WORD}|{alternatives('quoting', 'in_speakers')})){{0,9}}"
_SPEAKER = re.compile(
    rf"{_TIME}(?P<name>{_ROLE}|{_LABEL})(?P<aside>{_ASIDE})[ \t]?[:\uff1a](?!//|\d)[ \t]{{0,3}}(?=\S)"
)
# A name that has a line to itself: "Ruth Adeyemi:", "Dana Whitfield -- Chief Executive Officer".
_NAME_LINE = re.compile(
    rf"^[ \t#*_]{{0,6}}(?:{_TIME}(?:{_ROLE}|{_LABEL}){_ASIDE}[ \t]?[:\uff1a]"
    rf"|{_WORD}(?:[ \t]{_WORD}){{1,3}}[ \t](?:--|–|—)[ \t][A-ZÀ-Ž][^\n.!?]{{2,80}})[ \t*_]{{0,4}}$",
    re.MULTILINE,
)
# Labels of one word that are nobody's name.
_NOBODY = words_of_all("quoting", "no_speakers")
_DASHED = re.compile(r" (?:--|–|—) ")
# Behind what somebody said: "— Ann Example, spokeswoman", "– Ann, 34".
_SIGNS = re.compile(
    rf"[ \t]{{0,40}}[*_]{{0,3}}(?:[–—―]|--)[ \t]?[*_]{{0,3}}{_WORD}[*_]{{0,3}}(?:,|[ \t]+[*_]{{0,3}}[A-ZÀ-Ž])"
    r"[^!?\n]{1,120}$"
)
_FILE = "voices"
_SAYS_WHOSE = ("speech", "disputes", "denies", "attributes")
# "…, so Vogt."
_SO = re.compile(r", so [^\W\d_a-z]")
_SENTENCE = re.compile(r"[^\W\d_]{4}[.!?]")
_FIGURE = re.compile(r"[^\w\s]?\s?[\d$€£]")
_JOINS = words_of_all("quoting", "joins_names")


def names_speaker(sentence: str) -> bool:
    """Whether a sentence begins with the name of who says it, or with a role: `Ruth Adeyemi (Labour): …`."""
    return _name(sentence) is not None


def is_reported(sentence: str, language: Language) -> bool:
    """Whether a sentence is somebody's by its mood, and does not say whose: `Die Stadt habe davon gewusst.`

    The mood is that of the main clause, the first one: "Der Rat meint, dass sie zu sperren sei" is no such.
    """
    main = sentence.partition(",")[0]
    if phrase_pattern(language, (_FILE, "clause_openers")).match(sentence):
        main = sentence
    found = phrase_pattern(language, (_FILE, "indirect")).search(main)
    if (
        found is None
        or not found[0].islower()
        or phrase_pattern(language, (_FILE, "direct")).search(sentence)
    ):
        return False
    return not says_whose(sentence, language)


def says_whose(sentence: str, language: Language) -> bool:
    """Whether a sentence says whose words or opinion it reports: `…, sagte Vogt.`, `Laut Polizei …`."""
    said_by = phrase_pattern(language, *((_FILE, key) for key in _SAYS_WHOSE))
    return said_by.search(sentence) is not None or _SO.search(sentence) is not None


def is_name_line(line: str) -> bool:
    """Whether a line is the name of somebody, of two words at least, who speaks below it: `Ruth Adeyemi:`."""
    found = _NAME_LINE.match(line)
    name = line.strip(" \t#*_:\uff1a")
    return found is not None and " " in name and _is_somebody(name)


def signs(line: str) -> bool:
    """Whether a line only says who said what stands above it: `— Ann Example, spokeswoman`."""
    bare = line.rstrip(" \t*_")
    return _SIGNS.match(bare) is not None and not _SENTENCE.search(bare)


def speaks_first(found: Sequence[Sentence], text: str) -> int | None:
    """From which character on a text is a transcript, in which all is said by somebody; None: it is none.

    It is one where names have lines to themselves, or stand before paragraphs, twice at least.
    """
    named = [(line.start(), line[0].strip(" \t#*_:\uff1a")) for line in _NAME_LINE.finditer(text)]
    dashed = {name for _, name in named if _DASHED.search(name)}
    # The same line with a dash again and again is the head of each page.
    heads = dashed if len(dashed) == 1 else set()
    lines = [start for start, name in named if _is_somebody(name) and name not in heads]
    labelled: list[tuple[str, int]] = []
    paragraph = -1
    again = Counter(one.text for one in found)
    for one in found:
        if one.paragraph == paragraph or again[one.text] > 1:  # a line that comes again is a page's head
            continue
        if (name := _name(one.text)) is not None:
            labelled.append((name, one.start))
        paragraph = one.paragraph
    often = Counter(name for name, _ in labelled)
    counted = [start for name, start in labelled if " " in name or often[name] > 1]
    starts = sorted([*lines, *counted])
    return starts[0] if len(starts) > 1 else None


def takes_the_word(sentence: str, *, is_under_way: bool) -> bool:
    """Whether a sentence begins a turn. In one that `is_under_way` a single word ("I answer: …") does not."""
    name = _name(sentence)
    return name is not None and (not is_under_way or " " in name)


def _name(sentence: str) -> str | None:
    label = _SPEAKER.match(sentence)
    if label is None:
        return None
    name = label["name"] + label["aside"]
    if " " not in name and _FIGURE.match(sentence, label.end()):
        return None
    return name if _is_somebody(name) else None


def _is_somebody(name: str) -> bool:
    bare = name.partition(" (")[0]
    told = bare.lower().split()
    if not told or (len(told) == 1 and told[0].strip(".") in _NOBODY):
        return False
    return "(" in name or _JOINS.isdisjoint(told)
