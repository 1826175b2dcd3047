"""What a person may do to a tree before approving it. `actors.systems.research.tree.editing` does it."""

from typing import Annotated, Literal

from pydantic import FailFast, Field

from models.record import Record

# A tree has rarely as many nodes that anybody would touch.
MOST_EDITS = 1_000


class RenameNode(Record):
    """Give a node another name: no sibling may have it."""

    edit: Literal["rename"] = "rename"
    node: str
    name: str


class MergeNodes(Record):
    """Have a node take the points and the children of others, which go."""

    edit: Literal["merge"] = "merge"
    into: str
    nodes: Annotated[tuple[str, ...], Field(min_length=1), FailFast()]


class MoveNode(Record):
    """Put a node, with all below it, under another one, after its children; None is the top."""

    edit: Literal["move"] = "move"
    node: str
    under: str | None


class DropNode(Record):
    """Take out a node and all below it. Their points are dropped, and kept as such."""

    edit: Literal["drop"] = "drop"
    node: str


TreeEdit = Annotated[RenameNode | MergeNodes | MoveNode | DropNode, Field(discriminator="edit")]
