"""Finds the topics that a text is about: those it names, and those whose words it uses.

Used by routing. A topic's slug or title names it; a word of it only hints.
"""

import functools
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from actors.platform.text.normal_form import clipped, words
from models.config.publishing import TopicConfig

_REMEMBERED = 64  # texts


class TopicsFound(NamedTuple):
    """Slugs, the longest match first."""

    named: tuple[str, ...]
    hinted: tuple[str, ...]


class TopicFinder:
    """The topics' names and words, as patterns.

    Args:
        topics: the site's topics by slug.
        hints: words by slug, as `Intents.topics` has them; other slugs' words are left out.
    """

    def __init__(self, topics: Mapping[str, TopicConfig], hints: Mapping[str, Iterable[str]]) -> None:
        self._names = {slug: _pattern((slug, topic.title)) for slug, topic in topics.items()}
        self._hints = {slug: pattern for slug in topics if (pattern := _pattern(hints.get(slug, ())))}
        # Routing asks about the same few texts for each intent.
        self._found = functools.lru_cache(maxsize=_REMEMBERED)(self._find)

    def find(self, text: str) -> TopicsFound:
        """The topics of a text; only its ends are read if it is long."""
        return self._found(text)

    def _find(self, text: str) -> TopicsFound:
        plain = words(clipped(text))
        named = _longest(self._names, plain)
        hinted = tuple(slug for slug in _longest(self._hints, plain) if slug not in named)
        return TopicsFound(named=named, hinted=hinted)


def _pattern(phrases: Iterable[str]) -> re.Pattern[str] | None:
    """What matches whole words only, a longer phrase before a shorter one; None for no phrases."""
    alternatives = []
    for phrase in sorted(phrases, key=len, reverse=True):
        parts = []
        for word in phrase.split():
            if plain := words(word):
                parts.append(re.escape(plain) + (r"\w*" if word.endswith("*") else ""))
        if parts:
            alternatives.append(" ".join(parts))
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b") if alternatives else None


def _longest(patterns: Mapping[str, re.Pattern[str] | None], plain: str) -> tuple[str, ...]:
    lengths: dict[str, int] = {}
    for slug, pattern in patterns.items():
        if pattern and (found := [len(match[0]) for match in pattern.finditer(plain)]):
            lengths[slug] = max(found)
    return tuple(sorted(lengths, key=lambda slug: -lengths[slug]))
