"""A text that somebody pastes is kept once, as his; one that can't be read leaves its page unread.

Pure functions over the rows of researches of one project, and of its sources.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from tests.faults.checks.deep import Deep
from tests.faults.ledger import Write
from tests.faults.site.pages import UNREADABLE_TEXT


@dataclass(frozen=True)
class Given:
    """A text that was approved in place of an address."""

    research: int
    number: int
    text: str
    by: str

    @property
    def sha256(self) -> str:
        """Its digest."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def __str__(self) -> str:
        return f"{self.sha256} by {self.by}"


def given(one: Deep) -> Iterator[Given]:
    """The texts that people gave at the gates of a research, in order."""
    for approval in one.approvals:
        if approval["kind"] == "research_unreadable" and approval["status"] == "approved":
            for place in approval["content"].get("instead", ()):
                if place.get("pasted"):
                    text = place["pasted"]["text"]
                    yield Given(one.number, place["number"], text, approval["decided_by"])


def kept_once(
    researches: Sequence[Deep], sources: Sequence[Mapping[str, Any]], writes: Sequence[Write]
) -> Iterator[str]:
    """What is wrong with the texts that were pasted in a project.

    Args:
        researches: all of the project.
        sources: its texts without an address: id, url, text and author.
        writes: of these researches.
    """
    givers: dict[str, set[str]] = defaultdict(set)
    ids = {row["id"]: row["url"] for row in sources}
    for one in researches:
        texts = list(given(one))
        for text in texts:
            givers[f"urn:sha256:{text.sha256}"].add(text.by)
        if one.workflow.status == "succeeded":
            yield from (f"research {one.number}: {odd}" for odd in _taken(one, texts, ids, writes))
    for row in sources:
        url = "urn:sha256:" + hashlib.sha256(row["text"].encode()).hexdigest()
        if row["url"] != url:
            yield f"source {row['id']} is called {row['url']}, and its text is {url}"
        if row["author"] not in givers[row["url"]]:
            yield f"source {row['id']} is by {row['author']}, and was given by {sorted(givers[row['url']])}"


def _taken(
    one: Deep, texts: Sequence[Given], ids: Mapping[int, str], writes: Sequence[Write]
) -> Iterator[str]:
    told = [
        (w.now["input"]["number"], w.now["input"]["sha256"], w.now["input"]["pasted_by"])
        for w in writes
        if w.research == one.number and w.now and w.now.get("tool_name") == "save_to_database"
    ]
    if sorted(told) != (wanted := sorted((text.number, text.sha256, text.by) for text in texts)):
        yield f"the texts {wanted} were given, and told as kept are {told}"
    last = {text.number: text for text in texts}
    for page in one.candidates:
        number, by = page["number"], page["metadata"].get("pasted_by")
        text = last.get(number)
        is_read = text is not None and text.text != UNREADABLE_TEXT
        if by != (text.by if text is not None and is_read else None):
            yield f"number {number} was pasted by {by}, and given was {text}"
        elif text is not None and is_read and ids.get(page["source_id"]) != f"urn:sha256:{text.sha256}":
            yield f"number {number} is source {page['source_id']}, and given was {text}"
        elif text is not None and not is_read and page["source_id"] is not None:
            yield f"number {number} is source {page['source_id']}, and what was given can't be read"
    yield from _asked_again(one)


def _asked_again(one: Deep) -> Iterator[str]:
    """What could not be read of what was given is asked about once more."""
    gates = [a for a in one.approvals if a["kind"] == "research_unreadable"]
    for gate, following in zip_longest(gates, gates[1:]):
        if gate["status"] != "approved":
            continue
        instead = gate["content"].get("instead", ())
        unread = {i["number"] for i in instead if (i.get("pasted") or {}).get("text") == UNREADABLE_TEXT}
        shown = set() if following is None else {u["number"] for u in following["content"]["unreadable"]}
        if not unread <= shown:
            yield f"{sorted(unread)} can't be read from what was given, and asked about again are {shown}"
