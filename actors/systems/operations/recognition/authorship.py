"""Whose words a value of an item is, and of when: so that what somebody says later goes before it.

Called by `claims`. A mail is its sender's; what else there is, its system's. A note within an item has a time
of its own.
"""

import re

from actors.platform.text.numbers.dates import days
from actors.systems.operations.recognition import fields
from actors.systems.operations.recognition.addresses import domain_of, emails
from actors.systems.operations.recognition.item import ReadItem
from actors.systems.operations.recognition.json_fields import JsonField

_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?")

_NAME = re.compile(r"[^\W\d_]{2,40}")
_LONGEST_SENDER = 120


class Authorship:
    """Who says what stands in an item (`who`), and when (`when_of`; empty where that is not said).

    `names` finds the words of the sender's name.
    """

    def __init__(self, read: ReadItem) -> None:
        self._times: dict[str, str] = {}
        self.who = read.item.agent if read.item.agent != "gmail" else _sender(read)
        self.names = _names(read)
        for leaf in read.leaves:
            if leaf.value is None and fields.is_time(leaf.names) and (time := _time(leaf.text)):
                self._times.setdefault(leaf.part, time)

    def when_of(self, leaf: JsonField) -> str:
        """When it was said: by the time of the note that it stands in, else of the whole."""
        return self._times.get(leaf.part) or self._times.get("", "")


def _sender(read: ReadItem) -> str:
    for leaf in read.leaves:
        if fields.is_sender(leaf.names):
            return next((domain_of(normal) for _, _, normal in emails(leaf.text)), "")
    return ""


def _names(read: ReadItem) -> re.Pattern[str]:
    said = [
        leaf.text[:_LONGEST_SENDER].partition("<")[0] for leaf in read.leaves if fields.is_sender(leaf.names)
    ]
    words = {re.escape(word) for one in said if "@" not in one for word in _NAME.findall(one)}
    return re.compile(rf"(?<!\w)(?:{'|'.join(sorted(words)) or '(?!)'})(?!\w)")


def _time(text: str) -> str:
    """A time that sorts: `2026-04-16T13:05`; of other forms the day alone."""
    said = text.strip()[:60]
    if found := _TIME.match(said):
        return found[0].replace(" ", "T")
    return next((day for _, _, day in days(said) if "|" not in day), "")
