"""The evidence finder: judges a concern by what an evidence provider finds on it.

Called by the editorial steps. The provider is the site's knowledge base or an outside search model.
Institutional memory is asked first; what it holds is used again, and neither the provider nor the
model is asked (seed 004 §7.3).
"""

import asyncio
from datetime import UTC, datetime

from actors.platform.llm.client import Completions
from actors.systems.editorial.agents.memory import InstitutionalMemory, evidence_key, normalize_query
from actors.systems.editorial.agents.ports import EvidenceProvider
from actors.systems.editorial.agents.verdicts import Judge
from actors.systems.editorial.briefs import AgentSettings, ConcernBrief
from models.content.editorial import EvidenceRecord, Verdict
from models.llm import Answer


class EvidenceFinder:
    """Asks memory, else the provider and its model. Prompt: `evidence_finding`."""

    def __init__(
        self,
        *,
        settings: AgentSettings,
        provider: EvidenceProvider,
        memory: InstitutionalMemory,
        completions: Completions | None = None,
    ) -> None:
        self._judge = Judge(role="evidence_finding", settings=settings, completions=completions)
        self._model_name = settings.model.model
        self._provider = provider
        self._memory = memory

    async def evaluate(self, brief: ConcernBrief) -> Answer[Verdict]:
        """The verdict, with the citations that the provider gave.

        Raises:
            ModelReplyInvalid: no reply was a verdict on this concern.
        """
        concern_id, query = brief.concern.concern_id, brief.query
        version = await self._provider.version()
        # The site's own documents say nothing by themselves: there the verdict is this agent's model's.
        name = self._model_name if version else self._provider.name
        known = await asyncio.to_thread(
            self._memory.recall_evidence, query=query, model_name=name, kb_index_version=version
        )
        if known is not None:
            return Answer(value=known.verdict.model_copy(update={"concern_id": concern_id}))

        finding = await self._provider.search(query)
        citations = list(dict.fromkeys(finding.citations))
        question = self._judge.question(brief, FINDING=finding.response.strip(), CITATIONS=citations)
        answer = await self._judge.verdict(question, concern_id=concern_id, citations=citations)
        record = EvidenceRecord(
            timestamp=datetime.now(UTC).isoformat(timespec="seconds"),
            article_id=brief.article_id,
            concern_id=concern_id,
            prompt=str(question),
            query=query,
            normalized_query=normalize_query(query),
            model_name=name,
            cache_key_hash=evidence_key(query, name, version),
            perplexity_response=finding.response,
            citations=citations,
            verdict=answer.value,
        )
        await asyncio.to_thread(self._memory.remember, record)
        return answer
