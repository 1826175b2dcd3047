"""The two providers of evidence: the site's own knowledge base, and a search model outside.

Used by the evidence finder, which gets one of them when its actor is made: both can be pickled. Citations
come from a provider's fields alone and never from what it wrote (seed 004 §8.2).
"""

import asyncio
from collections.abc import Iterable

from pydantic import BaseModel, Field, ValidationError

from actors.platform.llm.breaker import breaker_of
from actors.platform.llm.client import strip_thinking
from actors.platform.llm.edge import Edge, EdgeFault, FaultNames, NotOfThisApi, address_of
from actors.systems.editorial.agents.ports import KnowledgeBase
from models.config import BreakerConfig, OutsideEvidence
from models.content.editorial import ProviderEvidence
from models.errors import EvidenceRefused, EvidenceUnavailable


class _CitedPage(BaseModel):
    url: str


class _Annotation(BaseModel):
    url_citation: _CitedPage | None = None


class _WireMessage(BaseModel):
    content: str | None = None
    annotations: list[_Annotation] | None = None


class _WireChoice(BaseModel):
    message: _WireMessage


class _WireReply(BaseModel):
    """What is read of a search model's reply: OpenAI's fields, and Perplexity's beside them."""

    choices: list[_WireChoice] = Field(min_length=1)
    citations: list[str | _CitedPage] | None = None
    search_results: list[_CitedPage] | None = None


class KnowledgeBaseProvider:
    """Evidence from the site's documents: nothing leaves the site. Citations name document and passage."""

    name = "knowledge_base"

    def __init__(self, *, knowledge_base: KnowledgeBase, top_k: int, min_score: float) -> None:
        self._knowledge_base = knowledge_base
        self._top_k = top_k
        self._min_score = min_score

    async def version(self) -> str:
        """The version of the index that is searched."""
        return await self._knowledge_base.version()

    async def search(self, query: str) -> ProviderEvidence:
        """At most `top_k` passages with a score (cosine) of at least `min_score`, each under its citation."""
        found = await self._knowledge_base.search(query, self._top_k)
        passages = [passage for passage in found if passage.score >= self._min_score]
        return ProviderEvidence(
            response="\n\n".join(f"{passage.citation}\n{passage.text}" for passage in passages),
            citations=_once(passage.citation for passage in passages),
        )


class SearchModelProvider:
    """Evidence from an OpenAI-compatible search model: Perplexity's API and the like.

    The query leaves the site, alone and as it is. There is one try (seed 004 §9), and no proxy is taken
    from the environment.
    """

    def __init__(self, *, settings: OutsideEvidence, breaker: BreakerConfig | None = None) -> None:
        self._settings = settings
        self._breaker = breaker

    @property
    def name(self) -> str:
        """The search model's name."""
        return self._settings.model

    async def version(self) -> str:
        """Empty: there is no index here."""
        return ""

    async def search(self, query: str) -> ProviderEvidence:
        """What the model answered, and the sources its answer's own fields name; a blank query finds nothing.

        Raises:
            EvidenceUnavailable: the endpoint is away, or not set up right.
            EvidenceRefused: it refuses this query, takes too long over it alone, or answered without a text.
        """
        if not query.strip():
            return ProviderEvidence(response="", citations=[])
        reply = await self._ask(query)
        response = strip_thinking(reply.choices[0].message.content or "")
        if not response:
            raise EvidenceRefused(self._explain("the answer holds no text"))
        return ProviderEvidence(response=response, citations=_once(_sources(reply)))

    async def _ask(self, query: str) -> _WireReply:
        import openai

        settings = self._settings
        edge = Edge(
            waits_for=f"search model {settings.model} at {address_of(settings.api_base)}",
            names=FaultNames(away=EvidenceUnavailable, refused=EvidenceRefused, timed_out=EvidenceRefused),
            breaker=breaker_of(settings.api_base, settings.model, self._breaker),
            explain=self._explain,
            timeout=f"no answer within evidence.timeout_seconds ({settings.timeout_seconds:g} s): raise it",
        )
        try:
            with edge.call(query):
                async with (
                    # One client per question: it holds a connection and its event loop, and can't be pickled.
                    openai.AsyncOpenAI(
                        base_url=settings.api_base,
                        api_key=settings.api_key.get_secret_value(),
                        timeout=settings.timeout_seconds,
                        max_retries=0,
                        http_client=openai.DefaultAsyncHttpxClient(trust_env=False),
                    ) as client,
                    asyncio.timeout(settings.timeout_seconds),
                ):
                    raw = await client.chat.completions.with_raw_response.create(
                        model=settings.model, messages=[{"role": "user", "content": query}]
                    )
                try:
                    return _WireReply.model_validate_json(raw.content)
                except ValidationError as error:
                    fault = error.errors(include_url=False, include_input=False)[0]
                    what = f"{'.'.join(map(str, fault['loc'])) or 'reply'}: {fault['msg']}"
                    raise NotOfThisApi(f"the reply is no chat completion ({what})") from error
        except EdgeFault as fault:
            raise fault.error from fault.__cause__

    def _explain(self, what: str) -> str:
        settings = self._settings
        where = f"evidence: search model {settings.model} at {address_of(settings.api_base)}"
        return f"{where}: {what}: check that it is up, and evidence.api_base, model and api_key"


def _sources(reply: _WireReply) -> Iterable[str]:
    cited = [*(reply.citations or []), *(reply.search_results or [])]
    yield from (source if isinstance(source, str) else source.url for source in cited)
    for choice in reply.choices:
        notes = choice.message.annotations or []
        yield from (note.url_citation.url for note in notes if note.url_citation)


def _once(citations: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for citation in citations if (text := citation.strip())))
