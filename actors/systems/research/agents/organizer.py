"""The agent `organizer`: lays points out as a tree, names its nodes, and writes about them. Seed 002 §7.3.

Its sentences are judged by another agent, `support_judge`.
"""

import asyncio
from collections.abc import Sequence

from actors.platform.search.embedder import Embedder, OpenAIEmbedder
from actors.platform.search.index_files import normalised
from actors.platform.text.language import Language
from actors.systems.research.agents.section_writer import ResearchWriter
from actors.systems.research.agents.tree_namer import TreeNamer
from actors.systems.research.synthesis.draft_reply import SectionReply
from actors.systems.research.synthesis.ports import RewriteRequest
from actors.systems.research.tree.assign_points import grown
from actors.systems.research.tree.naming import NameReply, NamingRequest, naming_requests
from models.config import BreakerConfig, EmbeddingConfig, SynthesisConfig, TreeConfig
from models.llm import Answer
from models.record import Record
from models.research.synthesis import SectionOffer
from models.research.trees import Tree, TreePoint
from models.text import cut

_LONGEST = 1000


class GrownTree(Record):
    """A tree that has grown, and what a model is to be asked for the names of its new nodes."""

    tree: Tree
    requests: tuple[NamingRequest, ...]


class Organizer:
    """Embeds with the model of `embedding`; names with that of `tree`, and writes with that of `synthesis`.

    Args:
        name_prompt: see `TreeNamer`; `write_prompt` and `rewrite_prompt`: see `ResearchWriter`.
    """

    def __init__(
        self,
        *,
        tree: TreeConfig,
        synthesis: SynthesisConfig,
        breaker: BreakerConfig,
        embedding: EmbeddingConfig,
        name_prompt: str,
        write_prompt: str,
        rewrite_prompt: str,
        embedder: Embedder | None = None,
    ) -> None:
        self._namer = TreeNamer(settings=tree, breaker=breaker, prompt=name_prompt)
        self._writer = ResearchWriter(
            settings=synthesis, breaker=breaker, prompt=write_prompt, rewriting_prompt=rewrite_prompt
        )
        self._embedder = embedder or OpenAIEmbedder(settings=embedding, breaker=breaker)

    async def grow(self, tree: Tree, points: Sequence[TreePoint]) -> GrownTree:
        """The tree with all points that it did not have; the same points again change nothing.

        Raises:
            InputInvalid: there is no room in it.
            ModelUnavailable: the embedding model is away.
        """
        if not points:
            return GrownTree(tree=tree, requests=())
        vectors = normalised(await self._embedder.embed([cut(point.text, _LONGEST) for point in points]))

        def work() -> GrownTree:
            made = grown(tree, points, vectors).tree
            return GrownTree(tree=made, requests=naming_requests(made, points, vectors))

        return await asyncio.to_thread(work)

    async def name(self, request: NamingRequest, language: Language) -> Answer[NameReply]:
        """See `TreeNamer.name`."""
        return await self._namer.name(request, language)

    async def write(self, offer: SectionOffer, language: Language) -> Answer[SectionReply]:
        """See `ResearchWriter.write`."""
        return await self._writer.write(offer, language)

    async def rewrite(self, request: RewriteRequest, language: Language) -> Answer[SectionReply]:
        """See `ResearchWriter.rewrite`."""
        return await self._writer.rewrite(request, language)
