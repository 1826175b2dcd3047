"""Concern mapping: which one specialist looks at each concern.

Called by the editorial steps. The schema that guides the model already holds one place per concern,
with its id fixed; the reply is checked all the same, as not every endpoint keeps to a schema.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from actors.platform.llm.client import Completions, ModelClient, RejectedReply
from actors.systems.editorial.agents.material import draft_text, topic_material
from actors.systems.editorial.agents.number_check import is_about_a_number
from actors.systems.editorial.agents.quotation_review import sorted_concerns
from actors.systems.editorial.briefs import AgentSettings, MappingBrief
from models.content.editorial import ConcernMapping, ConcernMappingResult
from models.llm import Answer

# What code found is not the model's to sort.
_OF_NUMBERS = {"concern_type": "unsupported_fact", "selected_agent": "fact_check"}


class ConcernMapper:
    """Gives each concern to exactly one specialist. Prompt: `concern_mapping`."""

    def __init__(self, *, settings: AgentSettings, completions: Completions | None = None) -> None:
        self._settings = settings
        self._prompt = settings.prompt("concern_mapping")
        self._model = ModelClient(
            agent="concern_mapping",
            settings=settings.model,
            completions=completions,
            breaker=settings.breaker,
        )

    async def map(self, brief: MappingBrief) -> Answer[ConcernMappingResult]:
        """One mapping per concern, ordered by `concern_id`.

        Raises:
            ModelReplyInvalid: no reply mapped every concern exactly once.
        """
        if brief.writes == "quotes":
            return Answer(value=sorted_concerns(brief.concerns))
        concern_ids = [concern.concern_id for concern in brief.concerns]
        system, user = self._prompt.render(
            **topic_material(brief.topic, settings=self._settings),
            DRAFT=draft_text(brief.draft),
            CONCERNS=brief.concerns,
        )

        def accept(result: ConcernMappingResult) -> ConcernMappingResult:
            if faults := mapping_faults(result.mappings, concern_ids):
                raise RejectedReply("; ".join(faults))
            numbers = {c.concern_id for c in brief.concerns if is_about_a_number(c)}
            mappings = [
                m.model_copy(update=_OF_NUMBERS) if m.concern_id in numbers else m for m in result.mappings
            ]
            return ConcernMappingResult(mappings=sorted(mappings, key=lambda m: m.concern_id))

        return await self._model.ask_record(
            system=system,
            user=user,
            reply=ConcernMappingResult,
            accept=accept,
            schema=mapping_schema(concern_ids),
        )


def mapping_faults(mappings: Sequence[ConcernMapping], concern_ids: Sequence[int]) -> list[str]:
    """What keeps `mappings` from holding each of `concern_ids` once and nothing else."""
    mapped = Counter(mapping.concern_id for mapping in mappings)
    faults = {
        "not mapped": [n for n in concern_ids if n not in mapped],
        "mapped more than once": [n for n, times in mapped.items() if times > 1],
        "there is no such concern": [n for n in mapped if n not in concern_ids],
    }
    return [f"concern_id {', '.join(map(str, ids))}: {fault}" for fault, ids in faults.items() if ids]


def mapping_schema(concern_ids: Sequence[int]) -> dict[str, Any]:
    """ConcernMappingResult's JSON schema, narrowed to one mapping per concern, in this order."""
    schema = ConcernMappingResult.model_json_schema()
    one = schema["$defs"]["ConcernMapping"]
    schema["properties"]["mappings"] |= {
        "minItems": len(concern_ids),
        "maxItems": len(concern_ids),
        "prefixItems": [
            one | {"properties": one["properties"] | {"concern_id": {"type": "integer", "const": concern_id}}}
            for concern_id in concern_ids
        ],
    }
    return schema
