"""Signs: what is noticed in a message by its words, in any language, before anything is weighed.

That somebody says "already", "mamy" or "liegt" tells the same whatever the language, and a no before a word
turns it round. The words are data (`configs/research/signs.yaml`). Called by the classifier and its training.
Linear in the message: a word is compared by its first letters, a phrase where its first word stands.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from actors.platform.text.normal_form import normal_form
from actors.systems.research.intents.addresses import MARK, Masked, masked
from models.config.strict_yaml import faults, read_mapping
from models.errors import ConfigInvalid
from models.record import Record
from models.research.intents import LONGEST_MESSAGE

Sign = Literal[
    "no",
    "only",
    "ask",
    "seek",
    "web",
    "new",
    "broad",
    "answer",
    "what_it_says",
    "page",
    "these",
    "fetch",
    "save",
    "raw",
    "do_not_analyse",
    "do_not_keep",
    "already",
    "ours",
    "place",
    "compare",
    "digest",
    "do_not_search",
    "facts",
    "tree",
    "whole",
    "then",
    "we_have_none",
]
# How many words before and after a word a no still bears on it.
_NO_BEFORE, _NO_AFTER = 4, 3
_SHORT, _LONG = (8, 30), 60


class SignWords(Record):
    """The words of all signs in normal form: whole words, beginnings of words, and phrases by first word."""

    words: Mapping[str, tuple[str, ...]]
    beginnings: Mapping[str, tuple[str, ...]]
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]
    longest: int


class Noticed(Record):
    """A message as it is classified: its normal form, and each thing noticed with how often."""

    text: str
    counts: Mapping[str, int]
    addresses: int

    def has(self, sign: str) -> bool:
        """Whether a sign is there, and no `no` beside it."""
        return f"yes {sign}" in self.counts


def read_signs(path: Path) -> SignWords:
    """The words in a YAML file.

    Raises:
        ConfigInvalid: one line per fault.
    """
    raw = read_mapping(path)
    try:
        said = TypeAdapter(dict[Sign, tuple[str, ...]]).validate_python(raw)
    except ValidationError as error:
        raise ConfigInvalid("\n".join(faults(lambda _: path, raw, error))) from error
    words: dict[str, dict[str, None]] = {}
    beginnings: dict[str, dict[str, None]] = {}
    phrases: dict[str, dict[tuple[tuple[str, ...], str], None]] = {}
    for sign, forms in said.items():
        for form in forms:
            parts = tuple(_star(part) for part in form.split())
            if not all(part.rstrip("*") for part in parts) or (len(parts) > 1 and parts[0].endswith("*")):
                raise ConfigInvalid(
                    f"{path}: {sign}: {form!r}: write words; * ends a word, but not the first of a phrase"
                )
            if len(parts) > 1:
                phrases.setdefault(parts[0], {})[parts, sign] = None
            elif parts[0].endswith("*"):
                beginnings.setdefault(parts[0][:-1], {})[sign] = None
            else:
                words.setdefault(parts[0], {})[sign] = None
    return SignWords(
        words={word: tuple(signs) for word, signs in words.items()},
        beginnings={word: tuple(signs) for word, signs in beginnings.items()},
        phrases={word: tuple(each) for word, each in phrases.items()},
        longest=max(map(len, beginnings), default=0),
    )


def notice(message: str, signs: SignWords) -> Noticed:
    """What is noticed in a message, of which 2,000 characters are looked at."""
    found = masked(message[:LONGEST_MESSAGE])
    text = normal_form(found.text)
    words = text.split()
    per_word = [tuple(dict.fromkeys(_of_word(words, at, signs))) for at in range(len(words))]
    refused = [at for at, each in enumerate(per_word) if "no" in each]
    before, after = _near(refused, len(words))
    counts: Counter[str] = Counter()
    for at, each in enumerate(per_word):
        for sign in each:
            counts[sign] += 1
            if sign != "no":
                counts[f"no {sign}" if before[at] else f"{sign} no" if after[at] else f"yes {sign}"] += 1
    if words:
        counts.update(f"first {sign}" for sign in per_word[0])
        counts.update(f"last {sign}" for sign in per_word[-1])
    counts.update(_form(message[:LONGEST_MESSAGE], found, len(words)))
    return Noticed(text=text, counts=counts, addresses=found.addresses)


def _star(word: str) -> str:
    return normal_form(word).replace(" ", "") + ("*" if word.endswith("*") else "")


def _of_word(words: Sequence[str], at: int, signs: SignWords) -> Iterator[str]:
    word = words[at]
    if word == MARK:
        yield "address"
    yield from signs.words.get(word, ())
    for size in range(1, min(len(word), signs.longest) + 1):
        yield from signs.beginnings.get(word[:size], ())
    for phrase, sign in signs.phrases.get(word, ()):
        if len(phrase) <= len(words) - at and all(
            _matches(form, words[at + step]) for step, form in enumerate(phrase)
        ):
            yield sign


def _matches(form: str, word: str) -> bool:
    return word.startswith(form[:-1]) if form.endswith("*") else word == form


def _near(refused: Sequence[int], count: int) -> tuple[list[bool], list[bool]]:
    """For each word: whether a no stands shortly before it, and shortly after."""
    before, after = [False] * count, [False] * count
    for at in refused:
        for place in range(at + 1, min(at + 1 + _NO_BEFORE, count)):
            before[place] = True
        for place in range(max(0, at - _NO_AFTER), at):
            after[place] = True
    return before, after


def _form(message: str, found: Masked, words: int) -> Iterator[str]:
    """Signs that are no words: questions, addresses, length."""
    if "?" in message:
        yield "a question"
    if message.rstrip().endswith("?"):
        yield "ends as a question"
    yield ("no address", "one address", "addresses")[min(found.addresses, 2)]
    if words < _SHORT[0]:
        yield "a few words"
    elif words < _SHORT[1]:
        yield "a sentence or two"
    elif words > _LONG:
        yield "a long message"
