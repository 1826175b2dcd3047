"""Which passages of a text bear most on a question: by the words that carry its meaning.

Called by the agents that answer from sources. Search by words finds a text for any word it shares with the
question, `the` included: here such words don't count. Whether a text is about a question at all: `bearing`.
Takes time linear in the text and little memory; long ones are still work for a thread.
"""

import re
from collections.abc import Iterator
from itertools import islice

from actors.platform.text.lexicon import words_of_all
from actors.platform.text.normal_form import words, words_in_parts
from models.text import cut

# Words that say nothing about a subject, in the form of `normal_form.words`.
_STOP = words_of_all("stop_words", "words")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
# A text of a million characters has about 10,000.
_MOST_SENTENCES = 20_000
_LEAST = 3
# Inflected words share their beginning: "inflacja", "inflacji".
_ENDING = 2
_BEGINNING = 4
# Beginnings of a question that count: whoever asks in more words has pasted a text.
_MOST_BEGINNINGS = 64


def content_words(text: str) -> frozenset[str]:
    """The words that carry meaning, without accents: no stop words, and no numbers shorter than a year."""
    return frozenset(_in_order(text))


def subject_words(text: str) -> tuple[str, ...]:
    """The words of a text that carry meaning, as they are written, in their order, each once."""
    bare = (word.strip("\"'.,:;!?()[]{}«»„“”’…") for word in text.split())
    return tuple(dict.fromkeys(word for word in bare if content_words(word)))


def best_passages(text: str, question: str, most: int) -> str:
    """At most `most` characters of a text: those sentences that bear most on the question, in their order.

    A text that fits is given whole. What is left out shows as `…`. Of a text in very short sentences only
    the first 20,000 are looked at.
    """
    text = text.strip()
    if len(text) <= most:
        return text
    wanted = QuestionWords(question)
    sentences = list(islice(_sentences(text), _MOST_SENTENCES))
    # The beginning of a text says what it is about: its first sentence comes along if there is room.
    order = sorted(range(len(sentences)), key=lambda n: (-wanted.shared_with(sentences[n]) - (n == 0), n))
    chosen: set[int] = set()
    room = most
    for place in order:
        cost = len(sentences[place]) + 3
        if cost <= room:
            chosen.add(place)
            room -= cost
    if not chosen:
        return cut(text, most)
    shown, last = [], -1
    for place in sorted(chosen):
        shown.append(("… " if place != last + 1 else "") + sentences[place])
        last = place
    return " ".join(shown)[:most]


def _sentences(text: str) -> Iterator[str]:
    begun = 0
    for between in _SENTENCE.finditer(text):
        if sentence := text[begun : between.start()].strip():
            yield sentence
        begun = between.end()
    if sentence := text[begun:].strip():
        yield sentence


def _in_order(text: str) -> list[str]:
    return [w for w in words(text).split() if len(w) >= _LEAST + w.isdigit() and w not in _STOP]


class QuestionWords:
    """The first beginnings of a question's content words, looked up by those of a text's words.

    `count` is how many there are.
    """

    def __init__(self, question: str) -> None:
        cut = dict.fromkeys(w[: max(_BEGINNING, len(w) - _ENDING)] for w in _in_order(question))
        self._wanted = frozenset(islice(cut, _MOST_BEGINNINGS))
        self.count = len(self._wanted)
        self._lengths = sorted({len(beginning) for beginning in self._wanted})

    def shared_with(self, text: str) -> int:
        """How many of them a text has a word with."""
        found: set[str] = set()
        for part in words_in_parts(text):
            for word in set(part.split()):
                for length in self._lengths:
                    if length > len(word):
                        break
                    if (beginning := word[:length]) in self._wanted:
                        found.add(beginning)
        return len(found)
