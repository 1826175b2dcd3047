"""The drafter: writes an article whose statements name their sources. Seed 000 §3.2, AnalystAgent.

Called by the graph of drafting. What was found is material for it, never an instruction.
"""

from actors.drafting.draft import Draft, DraftBrief, draft_faults, draft_schema, tidy
from actors.drafting.source_excerpts import fitted_prompt
from actors.llm.client import Completions, ModelClient, RejectedReply
from actors.llm.prompts import TwoPartPrompt
from models.config import BreakerConfig, DraftingConfig
from models.llm import Answer


class Drafter:
    """Writes drafts with the model of `drafting.llm`; `prompt` is its source."""

    def __init__(
        self,
        *,
        settings: DraftingConfig,
        breaker: BreakerConfig,
        prompt: str,
        completions: Completions | None = None,
    ) -> None:
        self._prompt = TwoPartPrompt(source=prompt, name="draft.md")
        self._each = settings.source_tokens
        self._model = ModelClient(
            agent="drafter", settings=settings.llm, completions=completions, breaker=breaker
        )

    async def write(self, brief: DraftBrief) -> Answer[Draft]:
        """The article, each statement with the numbers of its sources.

        Raises:
            ModelReplyInvalid: no draft was usable after the configured retries.
        """
        system, user = fitted_prompt(self._prompt, brief, settings=self._model.settings, each=self._each)

        def accept(reply: Draft) -> Draft:
            draft = tidy(reply)
            if faults := draft_faults(draft, brief.sources):
                raise RejectedReply(" ".join(faults))
            return draft

        schema = draft_schema(len(brief.sources))
        return await self._model.ask_record(
            system=system, user=user, reply=Draft, accept=accept, schema=schema
        )
