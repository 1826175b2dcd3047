"""What pages call their parts: classes, ids and roles, in the words of each language that we know.

Asked by whoever tells a page's text, notes and day from the rest. Names are English on most pages, whatever
language their text is in: the words of all languages count on each.
"""

import re
from functools import cache

from actors.platform.text.lexicon import folders, phrase_pattern

_BETWEEN_WORDS = re.compile(r"_|(?<=[a-z])(?=[A-Z])")
_LONGEST = 300


def is_called(names: str, key: str, *, file: str = "page_parts") -> bool:
    """Whether names, or the words of a line, have any of those under a key of the languages' files."""
    return any(one.search(_BETWEEN_WORDS.sub(" ", names[:_LONGEST])) for one in _patterns(file, key))


@cache
def _patterns(file: str, key: str) -> tuple[re.Pattern[str], ...]:
    return tuple(phrase_pattern(language, (file, key)) for language in folders(file))
