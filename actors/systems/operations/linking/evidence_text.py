"""A contradiction and its two sides, in the words of their items. Used by whatever finds conflicts."""

from typing import NamedTuple

from actors.systems.operations.recognition.item import Detail, ReadItem, Sighting
from actors.systems.operations.recognition.json_fields import JsonField
from models.operations.evidence import ConflictKind, Evidence
from models.text import shortened

_SHOWN = 80
_AGENTS = {"gmail": "the mail", "accounts_payable": "accounts payable", "crm": "the CRM"}


class Contradiction(NamedTuple):
    """A conflict that has no number yet."""

    kind: ConflictKind
    about: str
    left: Evidence
    right: Evidence
    explanation: str


class Side(NamedTuple):
    """An item, and the words of it that say something."""

    read: ReadItem
    leaf: JsonField
    words: str

    @property
    def evidence(self) -> Evidence:
        """The words with their place."""
        return Evidence(item=self.read.item.id, path=self.leaf.path, words=self.words)


def side(read: ReadItem, found: Sighting | Detail) -> Side:
    """What was found in an item, as a side."""
    return Side(read, found.leaf, found.words)


def short(words: str) -> str:
    """Words as sentences quote them."""
    return shortened(words, _SHOWN)


def place_of(read: ReadItem) -> str:
    """Where an item is, as sentences say it."""
    return f"{_AGENTS[read.item.agent]} ({read.item.id})"
