"""Of which invoice a value or a sentence is: by its object, its note, its sentence, or the whole item.

Called by `claims` and `money_claims`. What is nested is a thing of its own: the amount of a line, of a deal
or of a note is never that of another thing which the item names.
"""

from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import islice

from actors.platform.text.lexicon import words_of_all
from actors.platform.text.sentences.mail_sentences import SentenceSpan, sentences
from actors.systems.operations.recognition import fields
from actors.systems.operations.recognition.addresses import ibans
from actors.systems.operations.recognition.authorship import Authorship
from actors.systems.operations.recognition.invoices import number_like_tokens
from actors.systems.operations.recognition.item import ReadItem, Sighting
from actors.systems.operations.recognition.json_fields import JsonField

_MOST_NAMES = 20
# Of an item as a whole, where it has no number.
UNNUMBERED = ""
_CLOSED = words_of_all("invoices", "closed")


class Context:
    """An item with its own numbers of invoices: none of those that stand in what a mail answers."""

    def __init__(self, read: ReadItem) -> None:
        self.read = read
        self.sayings = Authorship(read)
        self._sentences: dict[str, list[SentenceSpan]] = {}
        self.numbers = [found for found in read.of("invoice") if self.is_own(found)]
        self.stated = [found for found in self.numbers if found.stated]
        self._here: dict[str, list[Sighting]] = {}
        self._unknown: dict[str, list[int]] = {}
        self._parts: dict[str, set[str]] = {}
        self._stated_parts: dict[str, set[str]] = {}
        self._parents: dict[str, set[str]] = {}
        for found in self.numbers:
            self._here.setdefault(found.leaf.path, []).append(found)
            self._parts.setdefault(self.part(found.leaf), set()).add(found.normal)
            if found.stated:
                self._stated_parts.setdefault(self.part(found.leaf), set()).add(found.normal)
                self._parents.setdefault(found.leaf.parent, set()).add(found.normal)

    def part(self, leaf: JsonField) -> str:
        """The thing that a value is of; a mail is one thing, however a server takes it apart."""
        return "" if self.read.item.agent == "gmail" else leaf.part

    def sentences(self, leaf: JsonField) -> list[SentenceSpan]:
        """The sentences of a text that are its writer's own."""
        if leaf.path not in self._sentences:
            self._sentences[leaf.path] = list(sentences(leaf.text))
        return self._sentences[leaf.path]

    def sentence_at(self, leaf: JsonField, place: int) -> SentenceSpan | None:
        """The sentence that stands at a place; None in what a mail answers."""
        some = self.sentences(leaf)
        at = bisect_right(some, place, key=lambda one: one.start) - 1
        return some[at] if at >= 0 and place <= some[at].end else None

    def is_own(self, found: Sighting) -> bool:
        """Whether it does not stand in what a mail answers."""
        return found.leaf.value is not None or self.sentence_at(found.leaf, found.start) is not None

    def within(self, leaf: JsonField, start: int, end: int) -> list[Sighting]:
        """The numbers that stand there."""
        return [found for found in self._here.get(leaf.path, ()) if start <= found.start < end]

    def names_in(self, leaf: JsonField) -> list[tuple[int, int]]:
        """Where in a text companies and its sender are named."""
        found = [(one.start, one.end) for one in self.read.of("vendor") if one.leaf is leaf]
        return found + [one.span() for one in islice(self.sayings.names.finditer(leaf.text), _MOST_NAMES)]

    def starts_unknown(self, leaf: JsonField, start: int, end: int) -> bool:
        """Whether the first number that stands there is in no record: then it is that one which is meant."""
        unknown = self._unknown_in(leaf)
        at = bisect_left(unknown, start)
        known = [found.start for found in self.within(leaf, start, end)]
        return at < len(unknown) and unknown[at] < min(end, *known, end)

    def goes_on_about_unknown(self, leaf: JsonField, place: int) -> bool:
        """Whether the number that was named last, in a text before a place or in a title, is in no record."""
        before = bisect_left(unknown := self._unknown_in(leaf), place) - 1
        known = [found.start for found in self._here.get(leaf.path, ()) if found.start < place]
        if before >= 0 or known:
            return before >= 0 and unknown[before] > max(known, default=-1)
        return self._is_headed_by_unknown

    @cached_property
    def _is_headed_by_unknown(self) -> bool:
        titles = [one for one in self.read.leaves if fields.is_title(one.names) and one.value is None]
        return any(self._unknown_in(one) and not self._here.get(one.path) for one in titles)

    def is_of_unknown(self, leaf: JsonField, start: int, end: int, place: int) -> bool:
        """Whether a value at a place of a sentence is said of a number that is in no record.

        The last one before it counts, else the first that stands in the sentence.
        """
        unknown = [one for one in self._unknown_in(leaf) if start <= one < end]
        known = [found.start for found in self.within(leaf, start, end)]
        before = max((one for one in (*unknown, *known) if one < place), default=None)
        first = min((*unknown, *known), default=None)
        return (first if before is None else before) in unknown

    def _unknown_in(self, leaf: JsonField) -> list[int]:
        """Where in a text something begins that may be a number, and that nothing is known by."""
        if leaf.path not in self._unknown:
            known = [(one.start, one.end) for one in self.read.findings if one.leaf is leaf]
            known += [(start, end) for start, end, _ in ibans(leaf.text)]
            self._unknown[leaf.path] = [
                first
                for first, last in number_like_tokens(leaf.text, 0, len(leaf.text))
                if not any(start < last and first < end for start, end in known)
            ]
        return self._unknown[leaf.path]

    def numbers_of(self, leaf: JsonField) -> set[str]:
        """The numbers of the thing that a value is of; of a note that names none, those of its object."""
        return self._parts.get(self.part(leaf)) or self._stated_parts.get("", set())

    def by_object(self, leaf: JsonField) -> str | None:
        """The number of the invoice that a field is about; None where that is not clear."""
        own = self._parents.get(leaf.parent) or self._stated_parts.get(leaf.part)
        own = own or self._parts.get(leaf.part) or ({UNNUMBERED} if not self.numbers else set())
        return next(iter(own)) if len(own) == 1 else None

    def by_title(self, leaf: JsonField) -> str | None:
        """As `by_object`, where a field or a title of the same object says the number."""
        own = self._parents.get(leaf.parent) or self._stated_parts.get(leaf.part)
        own = own or {
            found.normal
            for found in self.numbers
            if found.leaf.parent == leaf.parent and fields.is_title(found.leaf.names)
        }
        return next(iter(own)) if len(own) == 1 else None

    @cached_property
    def is_case(self) -> bool:
        """Whether the item is a matter that somebody works on: its status is no invoice's."""
        names = frozenset(word for leaf in self.read.leaves for name in leaf.names[:1] for word in name)
        return self.read.item.agent == "crm" and fields.is_case(self.read.about, names)

    def when_of(self, leaf: JsonField) -> str:
        """When a text was written; empty of a matter that is open: what it says holds until now."""
        if self.is_case and not self.part(leaf) and not self.is_closed and self._has_standing:
            return ""
        return self.sayings.when_of(leaf)

    @cached_property
    def _has_standing(self) -> bool:
        return any(fields.is_status(leaf.names) and len(leaf.names) == 1 for leaf in self.read.leaves)

    @cached_property
    def is_closed(self) -> bool:
        """Whether that matter is closed: what it says is over."""
        return self.read.item.agent == "crm" and any(
            fields.is_status(leaf.names) and len(leaf.names) == 1 and leaf.text.strip().casefold() in _CLOSED
            for leaf in self.read.leaves
        )
