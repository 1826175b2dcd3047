"""Headlines that are somebody's words: a source's title, or a sentence that is short enough to be one.

Called by whoever writes in quotations. A sentence is never cut: what stands before "as long as", or before
who said it, says something else by itself. Only its full stop goes.
"""

import re
from collections.abc import Iterable, Sequence

from actors.platform.text.language import Language
from actors.platform.text.sentences.sentence_boundaries import abbreviated
from models.text import one_line

_LONGEST = 110
_SHORTEST_WORDS = 3
# What is a file's name, an address or a number and no title.
_NO_TITLE = re.compile(
    r"\A[\w.-]+\.\w{2,5}\Z|\.(?:docx?|pdf|txt|html?|pptx?|xlsx?|odt|md)\Z|://|\A\W*\d*\W*\Z", re.IGNORECASE
)


def headlines(
    titles: Iterable[str], chosen: Sequence[str], language: Language, *, most: int = 6
) -> list[str]:
    """At most `most` headlines, the titles first; never none where there is a title or a sentence.

    Args:
        titles: of the sources, best first.
        chosen: sentences, best first.
    """
    told = [one_line(title) for title in titles]
    found = [title for title in told if _is_title(title)]
    found += [short for sentence in chosen if (short := _short(sentence, language)) is not None]
    if not found:
        found = [title for title in told if title] or [one_line(sentence) for sentence in chosen[:1]]
    return list(dict.fromkeys(found))[:most]


def _is_title(title: str) -> bool:
    fits = len(title) <= _LONGEST and len(title.split()) >= _SHORTEST_WORDS
    return fits and not _NO_TITLE.search(title)


def _short(sentence: str, language: Language) -> str | None:
    """The sentence without its full stop; None where that is too long for a headline."""
    bare = sentence.strip()
    if bare.endswith(".") and not abbreviated(bare, language):
        bare = bare[:-1]
    return bare if _is_title(bare) else None
