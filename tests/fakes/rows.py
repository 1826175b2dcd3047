"""Rows for a batch's driver without Ray Data."""

from collections.abc import AsyncIterator, Sequence
from typing import Generic, TypeVar

from pipelines.rows import Row

R = TypeVar("R", bound=Row)


class ListedRows(Generic[R]):
    """Stands where Ray Data's rows do."""

    def __init__(self, rows: Sequence[R]) -> None:
        self._rows = rows

    def heads(self) -> list[R]:
        """The head of each."""
        return [row.head() for row in self._rows]

    async def stream(self) -> AsyncIterator[R]:
        """Each row."""
        for row in self._rows:
            yield row
