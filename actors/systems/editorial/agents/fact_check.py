"""The fact checker: judges a concern by what the site's own knowledge base says about it.

Called by the editorial steps. The knowledge base is asked for its version; what institutional memory (files)
holds for that version is used again, and neither passages nor the model are asked (seed 004 §7.3).
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from actors.platform.llm.client import Completions
from actors.systems.editorial.agents.memory import InstitutionalMemory, fact_check_key, normalize_query
from actors.systems.editorial.agents.ports import KnowledgeBase
from actors.systems.editorial.agents.verdicts import Judge
from actors.systems.editorial.briefs import AgentSettings, ConcernBrief
from models.content.editorial import FactCheckRecord, Passage, Verdict
from models.llm import Answer


class FactChecker:
    """Asks memory, else the knowledge base for passages and the model for a verdict. Prompt: `fact_check`.

    The editorial system makes it for the role `fact_check`, of `article_generation.knowledge_base`. At most
    `top_k` passages are shown, none with a score (cosine) under `min_score`.
    """

    def __init__(
        self,
        *,
        settings: AgentSettings,
        knowledge_base: KnowledgeBase,
        top_k: int,
        min_score: float,
        memory: InstitutionalMemory,
        completions: Completions | None = None,
    ) -> None:
        self._judge = Judge(role="fact_check", settings=settings, completions=completions)
        self._model_name = settings.model.model
        self._knowledge_base = knowledge_base
        self._top_k = top_k
        self._min_score = min_score
        self._memory = memory

    async def evaluate(self, brief: ConcernBrief) -> Answer[Verdict]:
        """The verdict, with the citations of the passages that were shown.

        Raises:
            ModelReplyInvalid: no reply was a verdict on this concern.
            ModelUnavailable, KnowledgeBaseInvalid, MemoryUnavailable: something that it needs is away.
            MemoryRecordInvalid: what memory holds of it is no record.
        """
        concern_id, query = brief.concern.concern_id, brief.query
        version = await self._knowledge_base.version()
        known = await asyncio.to_thread(
            self._memory.recall_fact_check,
            query=query,
            model_name=self._model_name,
            kb_index_version=version,
        )
        if known is not None:
            return Answer(value=known.verdict.model_copy(update={"concern_id": concern_id}))

        found = await self._knowledge_base.search(query, self._top_k)
        passages = [passage for passage in found if passage.score >= self._min_score]
        question = self._judge.question(brief, PASSAGES=passages)
        answer = await self._judge.verdict(
            question,
            concern_id=concern_id,
            citations=list(dict.fromkeys(passage.citation for passage in passages)),
        )
        record = FactCheckRecord(
            timestamp=datetime.now(UTC).isoformat(timespec="seconds"),
            article_id=brief.article_id,
            concern_id=concern_id,
            prompt=str(question),
            query=query,
            normalized_query=normalize_query(query),
            model_name=self._model_name,
            kb_index_version=version,
            cache_key_hash=fact_check_key(query, self._model_name, version),
            kb_response=_as_text(passages),
            verdict=answer.value,
        )
        await asyncio.to_thread(self._memory.remember, record)
        return answer


def _as_text(passages: Sequence[Passage]) -> str:
    return "\n\n".join(f"{p.citation} (score {p.score:.3f})\n{p.text}" for p in passages)
