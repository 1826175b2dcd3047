"""Which vendor an item is about, though each system calls it otherwise: groups of names that are one vendor.

Called by `conflicts`. By the name in a field; else by the account that an id names, the domain that a mail
goes to or comes from, the names in a text, and last by the bill whose number stands there.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from actors.systems.operations.recognition import fields
from actors.systems.operations.recognition.addresses import company_label, domain_of, emails, is_anyones
from actors.systems.operations.recognition.item import ReadItem, Sighting
from actors.systems.operations.recognition.vendors import vendor_keys, vendor_likeness

_MOST_OF_KEY = 8
_LEAST_WORD = 5
_LEAST_NUMBER = 3


class VendorGroups:
    """The vendors of items, each group by the first of its names."""

    def __init__(self, items: Sequence[ReadItem]) -> None:
        self._above: dict[str, str] = {}
        self._join_names(items)
        self._domains = self._join_domains(items)
        self._by_id = self._ids(items)
        self._by_number: dict[str, set[str]] = defaultdict(set)
        for read in items:
            if read.item.agent == "accounts_payable":
                for number in read.stated("invoice"):
                    self._by_number[number.normal] |= self._named(read.stated("vendor"))
        self._of = [self._found(read) for read in items]

    def of(self, place: int) -> frozenset[str]:
        """The groups of an item; none where nothing says of which vendor it is."""
        return self._of[place]

    def _found(self, read: ReadItem) -> frozenset[str]:
        ways = (
            self._named(read.stated("vendor")),
            self._by_ids(read),
            self._by_domains(read),
            self._named(read.of("vendor")),
            self._by_numbers(read),
        )
        return frozenset(next((groups for groups in ways if groups), set()))

    def _root(self, normal: str) -> str:
        way = []
        while (above := self._above.get(normal, normal)) != normal:
            way.append(normal)
            normal = above
        for each in way:
            self._above[each] = normal
        return normal

    def _join(self, one: str, other: str) -> None:
        first, second = sorted((self._root(one), self._root(other)))
        if first != second:
            self._above[second] = first

    def _named(self, found: Iterable[Sighting]) -> set[str]:
        return {self._root(each.normal) for each in found}

    def _join_names(self, items: Sequence[ReadItem]) -> None:
        names = {(found.normal, found.words) for read in items for found in read.stated("vendor")}
        by_key: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for normal, words in sorted(names):
            for key in vendor_keys(words):
                for other, said in by_key[key]:
                    if other != normal and vendor_likeness(words, said) > 0:
                        self._join(normal, other)
                if len(by_key[key]) < _MOST_OF_KEY:
                    by_key[key].append((normal, words))

    def _join_domains(self, items: Sequence[ReadItem]) -> dict[str, str]:
        held: dict[str, set[str]] = defaultdict(set)
        for read in items:
            named = {found.normal for found in read.stated("vendor")}
            if read.item.agent != "gmail" and len(self._named(read.stated("vendor"))) == 1:
                for domain in _domains(read):
                    held[domain] |= named
        for domain, names in sorted(held.items()):
            first, *others = sorted(names)
            for other in others:
                if _share_a_word(domain, first, other):
                    self._join(first, other)
        roots = {domain: {self._root(name) for name in names} for domain, names in held.items()}
        return {domain: next(iter(some)) for domain, some in roots.items() if len(some) == 1}

    def _ids(self, items: Sequence[ReadItem]) -> dict[tuple[str, str], set[str]]:
        found: dict[tuple[str, str], set[str]] = defaultdict(set)
        for read in items:
            if groups := self._named(read.stated("vendor")):
                for leaf in read.leaves:
                    if len(leaf.names) == 1 and leaf.names[0] == ("id",):
                        found[read.item.agent, leaf.text] |= groups
        return found

    def _by_ids(self, read: ReadItem) -> set[str]:
        groups: set[str] = set()
        for leaf in read.leaves:
            if len(leaf.names) == 1 and fields.names_another(leaf.names):
                groups |= self._by_id.get((read.item.agent, leaf.text), set())
        return groups

    def _by_domains(self, read: ReadItem) -> set[str]:
        if read.item.agent != "gmail":
            return set()
        found = {
            self._domains.get(domain_of(normal), "")
            for leaf in read.leaves
            if fields.is_correspondent(leaf.names)
            for _, _, normal in emails(leaf.text)
        }
        return found - {""}

    def _by_numbers(self, read: ReadItem) -> set[str]:
        some = [self._by_number.get(found.normal, set()) for found in read.of("invoice")]
        numbers = [found.normal for found in read.of("invoice")]
        kept = [groups for groups, number in zip(some, numbers, strict=True) if len(number) >= _LEAST_NUMBER]
        return set().union(*(groups for groups in kept if len(groups) == 1))


def _domains(read: ReadItem) -> set[str]:
    found = {domain_of(detail.normal) for detail in read.details if detail.kind == "contact"}
    for leaf in read.leaves:
        if leaf.value is None and fields.is_website(leaf.names):
            host = leaf.text[:200].partition("//")[2] or leaf.text[:200]
            host = host.partition("/")[0].strip().casefold()
            if "." in host:
                found.add(domain_of(host))
    return {domain for domain in found if not is_anyones(domain)}


def _share_a_word(domain: str, one: str, other: str) -> bool:
    label = company_label(f"@{domain}") or ""
    common = set(one.split()) & set(other.split())
    return any(len(word) >= _LEAST_WORD and word in label for word in common)
