"""Of which invoice a value or a sentence is: by its object, its note, its sentence, or the whole item.

Called by `claims` and `money_claims`. What is nested is a thing of its own: the amount of a line, of a deal
or of a note is never that of another thing which the item names.
"""

from bisect import bisect_right
from functools import cached_property

from actors.operations.linking.reading import fields
from actors.operations.linking.reading.item import ReadItem, Sighting
from actors.operations.linking.reading.leaves import Leaf
from actors.operations.linking.reading.sayings import Sayings
from actors.operations.linking.reading.sentences import SentenceSpan, sentences
from models.text import word_list

# Of an item as a whole, where it has no number.
UNNUMBERED = ""
_CLOSED = frozenset(
    word_list(
        "closed resolved solved done completed erledigt geschlossen gelöst zamknięta zamknięte rozwiązana "
        "zakończona zakończone"
    )
)


class Context:
    """An item with its own numbers of invoices: none of those that stand in what a mail answers."""

    def __init__(self, read: ReadItem) -> None:
        self.read = read
        self.sayings = Sayings(read)
        self._sentences: dict[str, list[SentenceSpan]] = {}
        self.numbers = [found for found in read.of("invoice") if self.is_own(found)]
        self.stated = [found for found in self.numbers if found.stated]
        self._here: dict[str, list[Sighting]] = {}
        self._parts: dict[str, set[str]] = {}
        self._stated_parts: dict[str, set[str]] = {}
        self._parents: dict[str, set[str]] = {}
        for found in self.numbers:
            self._here.setdefault(found.leaf.path, []).append(found)
            self._parts.setdefault(self.part(found.leaf), set()).add(found.normal)
            if found.stated:
                self._stated_parts.setdefault(self.part(found.leaf), set()).add(found.normal)
                self._parents.setdefault(found.leaf.parent, set()).add(found.normal)

    def part(self, leaf: Leaf) -> str:
        """The thing that a value is of; a mail is one thing, however a server takes it apart."""
        return "" if self.read.item.agent == "gmail" else leaf.part

    def sentences(self, leaf: Leaf) -> list[SentenceSpan]:
        """The sentences of a text that are its writer's own."""
        if leaf.path not in self._sentences:
            self._sentences[leaf.path] = list(sentences(leaf.text))
        return self._sentences[leaf.path]

    def sentence_at(self, leaf: Leaf, place: int) -> SentenceSpan | None:
        """The sentence that stands at a place; None in what a mail answers."""
        some = self.sentences(leaf)
        at = bisect_right(some, place, key=lambda one: one.start) - 1
        return some[at] if at >= 0 and place <= some[at].end else None

    def is_own(self, found: Sighting) -> bool:
        """Whether it does not stand in what a mail answers."""
        return found.leaf.value is not None or self.sentence_at(found.leaf, found.start) is not None

    def within(self, leaf: Leaf, start: int, end: int) -> list[Sighting]:
        """The numbers that stand there."""
        return [found for found in self._here.get(leaf.path, ()) if start <= found.start < end]

    def numbers_of(self, leaf: Leaf) -> set[str]:
        """The numbers of the thing that a value is of; of a note that names none, those of its object."""
        return self._parts.get(self.part(leaf)) or self._stated_parts.get("", set())

    def by_object(self, leaf: Leaf) -> str | None:
        """The number of the invoice that a field is about; None where that is not clear."""
        own = self._parents.get(leaf.parent) or self._stated_parts.get(leaf.part)
        own = own or self._parts.get(leaf.part) or ({UNNUMBERED} if not self.numbers else set())
        return next(iter(own)) if len(own) == 1 else None

    def by_title(self, leaf: Leaf) -> str | None:
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

    def when_of(self, leaf: Leaf) -> str:
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
