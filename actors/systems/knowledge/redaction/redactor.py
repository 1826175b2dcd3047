"""Takes personal data out of a text: `Redactor`. Pure but for the names, which a model finds.

Called by scrapers before anything of a page is kept. Texts are Markdown: marks go into link targets as well
as into what is read, and a mark never makes a link or a definition of what stands after it.
"""

import re
from collections import Counter
from collections.abc import Sequence

from actors.systems.knowledge.redaction import accounts, identities, internet, phones
from actors.systems.knowledge.redaction.finding import Recognised
from actors.systems.knowledge.redaction.folding import Folded
from actors.systems.knowledge.redaction.names import NameFinder
from models.knowledge.redaction import PiiKind, Redacted

# What is found by more than one is named after the first.
_RECOGNISERS = (
    *internet.RECOGNISERS[:1],
    *accounts.RECOGNISERS,
    *identities.RECOGNISERS,
    *phones.RECOGNISERS,
    *internet.RECOGNISERS[1:],
)
_COUNTRY = re.compile(r"\A[a-z]{2}_")
_PERSON = "person"
_INDENT = 40


class Redactor:
    """Finds personal data of some kinds. The same in every language; a number is checked wherever it stands.

    Args:
        kinds: what is taken out; none of them: texts stay as they are, but for names.
        names: what finds the names of persons, where a model is installed.
    """

    def __init__(self, kinds: Sequence[PiiKind], *, names: NameFinder | None = None) -> None:
        wanted = frozenset(kinds)
        self._recognisers = tuple(r for r in _RECOGNISERS if r.kind in wanted)
        self._names = names

    def redact(self, text: str) -> Redacted:
        """The text with marks in place of what was found. It takes time linear in the text."""
        spans = self._found(text)
        if self._names is not None:
            spans += [(start, end, len(_RECOGNISERS), _PERSON) for start, end in self._names.find(text)]
        parts: list[str] = []
        counts: Counter[str] = Counter()
        done = 0
        for start, end, kind in _merged(spans):
            counts[kind] += 1
            parts += (text[done:start], f"[{_COUNTRY.sub('', kind)}]", _unbound(text, start, end))
            done = end
        return Redacted(text="".join((*parts, text[done:])), counts=dict(counts))

    def _found(self, text: str) -> list[tuple[int, int, int, str]]:
        folded = Folded(text)
        hits: list[Recognised] = []
        for rank, recogniser in enumerate(self._recognisers):
            hits += recogniser.find(folded, rank)
        return [(*folded.place(hit.start, hit.end), hit.rank, hit.kind) for hit in hits]


def _merged(spans: list[tuple[int, int, int, str]]) -> list[tuple[int, int, str]]:
    """Spans in order. Those that overlap are one, named after the longest of them, then the first in rank."""
    merged: list[tuple[int, int, tuple[int, int], str]] = []
    for start, end, rank, kind in sorted(spans):
        place = (start - end, rank)
        if merged and start < merged[-1][1]:
            first, last, best, name = merged.pop()
            start, end = first, max(last, end)
            place, kind = min((place, kind), (best, name))
        merged.append((start, end, place, kind))
    return [(start, end, kind) for start, end, _, kind in merged]


def _unbound(text: str, start: int, end: int) -> str:
    r"""A backslash where what follows a mark would bind to it.

    `[email](…)` is a link, and `[email]:` a definition where it begins a line. What a `[` begins stays
    as it is.
    """
    if text.startswith("(", end):
        return "\\"
    line = text[max(text.rfind("\n", max(start - _INDENT, 0), start) + 1, start - _INDENT, 0) : start]
    return "\\" if text.startswith(":", end) and not any(sign.isalpha() for sign in line) else ""
