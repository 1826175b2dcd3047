"""What an engine brings: the bytes of a page and how they were had. It never leaves the process."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from models.knowledge.pages import Engine


@dataclass(frozen=True)
class FetchedPage:
    """An answer with its body. `url` is where it was had in the end; names of headers are lower-case."""

    url: str
    engine: Engine
    status: int
    headers: Mapping[str, str]
    body: bytes
    fetched_at: datetime

    @property
    def content_type(self) -> str | None:
        """What the server says that it is, with its parameters."""
        return self.headers.get("content-type")
