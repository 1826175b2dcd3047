"""What a backup says of itself, so that a restored site can be compared with the one it was made of."""

from datetime import datetime
from typing import Literal

from models.record import Record


class Inventory(Record):
    """What a database holds: rows by table, and of each sequence the number it would give next.

    `newest_event` is where streams go on from.
    """

    revision: str
    rows: dict[str, int]
    sequences: dict[str, int]
    newest_event: int


class Member(Record):
    """A file of the backup."""

    name: str
    bytes: int
    sha256: str


class Manifest(Record):
    """The backup's own table of contents: its last member. `server_version`: 180004 is 18.4."""

    format: Literal[1]
    made_at: datetime
    server_version: int
    inventory: Inventory
    members: tuple[Member, ...]
