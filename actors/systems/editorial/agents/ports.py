"""What the desk asks of the world outside: a knowledge base, and a provider of evidence.

Each is a seam with more than one side: an actor or an endpoint in production, a scripted one in tests.
Where one is away it raises an outage (KnowledgeBaseInvalid, EvidenceUnavailable), and the topic waits for it.
What an evidence provider holds against one query (EvidenceRefused) ends that topic.
"""

from typing import Protocol

from models.content.editorial import Passage, ProviderEvidence


class KnowledgeBase(Protocol):
    """The site's own documents, searched by meaning."""

    async def version(self) -> str:
        """The digest of the files and embedding settings behind the present index."""
        ...

    async def search(self, query: str, top_k: int) -> list[Passage]:
        """At most `top_k` passages, best first; `score` is a cosine."""
        ...


class EvidenceProvider(Protocol):
    """Somebody who looks for evidence on a claim."""

    @property
    def name(self) -> str:
        """The name of the search model; a part of the memory's key."""
        ...

    async def version(self) -> str:
        """The index version where the provider searches the knowledge base, else an empty string."""
        ...

    async def search(self, query: str) -> ProviderEvidence:
        """What was found: words and citations, both empty where there is nothing."""
        ...
