"""How the things that agents found belong together: by what, how surely, and where they contradict each
other.

Made by `actors.systems.operations.linking.link` and shown to whoever approves the results. Everything that is
said of an item has its evidence: words that stand at the named place of the item's data exactly so.
"""

from typing import Annotated, Literal

from pydantic import Field

from models.record import Record
from models.runtime.gated_kinds import Shown

IdentifierKind = Literal["vendor", "invoice", "amount", "date", "email"]
ConflictKind = Literal[
    "status",
    "amount",
    "due_date",
    "hold",
    "dispute",
    "duplicate",
    "missing",
    "contact",
    "bank_details",
]


class Evidence(Record):
    """Words of an item, as they stand there.

    `item` is the item's id, `path` the place in its data (RFC 6901). There a text has the `words` in it, and
    a number or a truth value is written so in JSON: `4300.0`, `true`.
    """

    item: str
    path: str
    words: Annotated[str, Shown("quote")]


class Identifier(Record):
    """Something of an item by which others may be known to be about the same.

    `normal` is what is compared: `northgate logistics`, `2041`, `4300 USD` (without a currency where none is
    said), `2026-06-30`, an address in small letters. A date that can be read in two ways has both,
    `2026-03-04|2026-04-03`, and is equal to another such one alone.
    """

    item: str
    kind: IdentifierKind
    path: str
    words: str
    normal: str


class Match(Record):
    """What two items have in common. `score`, 0 to 1: how alike the two are, 1 for the same normal form."""

    kind: IdentifierKind
    left: Evidence
    right: Evidence
    score: float = Field(ge=0, le=1)


class Correlation(Record):
    """Two items of different agents that are about the same; `left` and `right` are their ids.

    `number` counts from 1, the surest first. `score` is the probability that they belong together, by how
    rare that is which they have in common (Fellegi and Sunter 1969); above 0.5. `matches`: at least one.
    """

    number: int
    left: str
    right: str
    score: float = Field(ge=0, le=1)
    matches: tuple[Match, ...]


class Conflict(Record):
    """Two items that contradict each other, or one that lacks what another has. `number` counts from 1.

    `hold`: to be paid in one, held back in the other; `dispute`: to be paid in one, disputed in the other.
    `about` is what they contradict each other in: an invoice or a vendor, as one of them writes it.
    `explanation` is one sentence, made by code, in which their words stand. Of `missing`, `left` names the
    invoice, and `right` the vendor where the bills are kept; of `duplicate`, both are of one agent.
    """

    number: int
    kind: ConflictKind
    about: str
    left: Evidence
    right: Evidence
    explanation: str


class CorrelationFigures(Record):
    """The four figures of the operations seed ("Comprehensive Results Message"); all are 0 of no items.

    - `cross_references`: the number of correlations.
    - `data_consistency`, 0 to 1: a / (a + c), where a counts what correlated items have in common, each kind
      of identifier once in a correlation, and c the conflicts; 0 where nothing could be compared.
    - `vendor_mentions`: how many items name each vendor, over all vendors: one that two items name counts 2,
      however often they name it.
    - `quality_score`, 0 to 1: (l + s + d) / 3, where l is the share of items that are in a correlation, s the
      correlations' mean score (0 of none), and d is `data_consistency`.
    """

    cross_references: int = Field(default=0, ge=0)
    data_consistency: float = Field(default=0.0, ge=0, le=1)
    vendor_mentions: int = Field(default=0, ge=0)
    quality_score: float = Field(default=0.0, ge=0, le=1)


class LinkedItems(Record):
    """What was found in some items: identifiers by item and place, correlations, conflicts and figures.

    `unread`: sentences about an invoice and a payment that nobody understood; they are in no comparison.
    """

    identifiers: tuple[Identifier, ...] = ()
    correlations: tuple[Correlation, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    figures: CorrelationFigures = CorrelationFigures()
    unread: tuple[Evidence, ...] = ()
