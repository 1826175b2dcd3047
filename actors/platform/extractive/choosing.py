"""A model's choice among numbered sentences: it answers with numbers alone, and code checks them.

Called by whoever writes in quotations. What the model may name is an enum in the schema; a reply that names
anything else is refused. Where it answers badly twice, code's own order stands, and the choice says so.
"""

from collections.abc import Sequence
from typing import Any

from actors.platform.llm.client import Completions, ModelClient, RejectedReply, text_tokens
from actors.platform.llm.prompts import TwoPartPrompt
from models.config import BreakerConfig, ModelSettings
from models.content.quoting import ChosenBy
from models.errors import ModelReplyInvalid
from models.llm import Answer
from models.record import Record

_TRIES = 2
# Room for the prompt's own words and for what a refused reply is told; and for a number, in tokens.
_INSTRUCTIONS = 900
_TOKENS_AROUND = 3


class ChoiceReply(Record):
    """What a model answers: the number of a headline, and those of the sentences, all from 1."""

    headline: int
    sentences: tuple[int, ...]


class Chosen(Record):
    """A headline and sentences by their places in what was offered, from 0; and who chose them."""

    headline: int
    sentences: tuple[int, ...]
    by: ChosenBy


class Chooser:
    """Has a model choose. `prompt` is shown REQUEST, HEADLINES, SENTENCES, LEAST and MOST."""

    def __init__(
        self,
        *,
        agent: str,
        settings: ModelSettings,
        breaker: BreakerConfig,
        prompt: str,
        completions: Completions | None = None,
    ) -> None:
        self._prompt = TwoPartPrompt(source=prompt, name="choose.md")
        tries = settings.model_copy(update={"max_retries": min(_TRIES - 1, settings.max_retries)})
        self._model = ModelClient(agent=agent, settings=tries, completions=completions, breaker=breaker)

    async def choose(
        self, request: str, *, headlines: Sequence[str], offered: Sequence[str], least: int, most: int
    ) -> Answer[Chosen]:
        """`least` to `most` of the sentences `offered`, which lie best first, and one of the headlines.

        Raises:
            ModelUnavailable: the model is away: that is no bad answer.
        """
        offered = self._fitting(request, headlines, offered)
        least, most = min(least, len(offered)), min(most, len(offered))
        system, user = self._prompt.render(
            REQUEST=request, HEADLINES=list(headlines), SENTENCES=list(offered), LEAST=least, MOST=most
        )

        def accept(reply: ChoiceReply) -> Chosen:
            numbers = tuple(dict.fromkeys(reply.sentences))
            if not 1 <= reply.headline <= len(headlines):
                raise RejectedReply(f"headline is {reply.headline}, and there is none of that number.")
            if wrong := [n for n in numbers if not 1 <= n <= len(offered)]:
                raise RejectedReply(f"sentences names {wrong[0]}, and there is none of that number.")
            if not least <= len(numbers) <= most:
                raise RejectedReply(f"sentences names {len(numbers)} of them: choose {least} to {most}.")
            chosen = tuple(n - 1 for n in numbers)
            return Chosen(headline=reply.headline - 1, sentences=chosen, by="model")

        schema = choice_schema(len(headlines), len(offered), least=least, most=most)
        try:
            return await self._model.ask_record(
                system=system, user=user, reply=ChoiceReply, accept=accept, schema=schema
            )
        except ModelReplyInvalid as refused:
            own = Chosen(headline=0, sentences=tuple(range(most)), by="code")
            return Answer(value=own, calls=refused.calls)

    def _fitting(self, request: str, headlines: Sequence[str], offered: Sequence[str]) -> Sequence[str]:
        """As many of the sentences as the model's window has room for, with what else it is shown."""
        settings = self._model.settings
        threshold = settings.context_window * settings.context_window_threshold // 100
        room = min(threshold, settings.context_window - settings.max_tokens) - _INSTRUCTIONS
        room -= sum(text_tokens(text) + _TOKENS_AROUND for text in (request, *headlines))
        fitting = 0
        for text in offered:
            room -= text_tokens(text) + _TOKENS_AROUND
            if room < 0:
                break
            fitting += 1
        # One at least: where even that has no room, the client says so.
        return offered[: max(fitting, 1)]


def choice_schema(headlines: int, offered: int, *, least: int, most: int) -> dict[str, Any]:
    """The JSON schema of a choice: nothing but numbers that there are."""
    return {
        "type": "object",
        "properties": {
            "headline": {"type": "integer", "enum": list(range(1, headlines + 1))},
            "sentences": {
                "type": "array",
                "items": {"type": "integer", "enum": list(range(1, offered + 1))},
                "minItems": least,
                "maxItems": most,
            },
        },
        "required": ["headline", "sentences"],
        "additionalProperties": False,
    }
