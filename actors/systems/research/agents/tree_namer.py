"""The agent that names a tree's nodes. Seed 002 §7.3, OrganizerAgent.

Called by whoever builds a tree, with `naming_requests`; `named` takes the answers in. No answer is worth a
tree: where the model gives no name that can be shown, the node keeps the one that code gave it. What is away
is waited for.
"""

import asyncio

from actors.platform.llm.client import Completions, ModelClient, RejectedReply, fits_window
from actors.platform.llm.prompts import TwoPartPrompt
from actors.platform.text.language import Language
from actors.platform.text.links import links
from actors.systems.research.tree.naming import NameReply, NamingRequest, plain_reply
from models.config import BreakerConfig, TreeConfig
from models.errors import ModelRefused, ModelReplyInvalid, ModelTimedOut, PromptTooLong
from models.llm import Answer
from models.research.trees import name_key
from models.text import one_line, shortened

PROMPT = "name_node.md"
_NAME = "tree_namer"
_NO_NAME = NameReply(name="")


class TreeNamer:
    """Names nodes with the model of `research.tree.llm`; with `names: code` no model is asked.

    Args:
        prompt: shown TEXTS, ABOVE, SIBLINGS and BELOW, lists of lines, and LANGUAGE.
    """

    def __init__(
        self,
        *,
        settings: TreeConfig,
        breaker: BreakerConfig,
        prompt: str,
        completions: Completions | None = None,
    ) -> None:
        self._names = settings.names
        self._prompt = TwoPartPrompt(source=prompt, name=PROMPT)
        self._model = ModelClient(
            agent=_NAME, settings=settings.llm, completions=completions, breaker=breaker
        )

    async def name(self, request: NamingRequest, language: Language) -> Answer[NameReply]:
        """A name of one line; an empty one where there is none, which `named` takes for no answer.

        Args:
            language: that the name is to be in.

        Raises:
            ModelUnavailable: the model is away.
        """
        if self._names == "code":
            return Answer(value=_NO_NAME)
        system, user = await asyncio.to_thread(self._fitted, request, language)

        taken = {name_key(one_line(name)) for name in (*request.above, *request.siblings)}

        def accept(reply: NameReply) -> NameReply:
            name = shortened(plain_reply(reply.name), request.most_characters)
            if not name:
                raise RejectedReply("name holds no word: name the node")
            if links(name):
                raise RejectedReply("name holds an address: leave it out")
            if name_key(name) in taken:
                raise RejectedReply("name is that of a node above or beside it: name this one")
            return NameReply(name=name)

        schema = {
            "type": "object",
            "properties": {"name": {"type": "string", "minLength": 1, "maxLength": request.most_characters}},
            "required": ["name"],
            "additionalProperties": False,
        }
        try:
            return await self._model.ask_record(
                system=system, user=user, reply=NameReply, accept=accept, schema=schema
            )
        except ModelReplyInvalid as refused:
            return Answer(value=_NO_NAME, calls=refused.calls)
        except (ModelRefused, ModelTimedOut, PromptTooLong):
            return Answer(value=_NO_NAME)

    def _fitted(self, request: NamingRequest, language: Language) -> tuple[str, str]:
        """The prompt with as many of the node's texts as there is room for, one at least."""
        texts = [one_line(text) for text in request.texts]
        while True:
            system, user = self._prompt.render(
                TEXTS=texts,
                ABOVE=[one_line(name) for name in request.above],
                SIBLINGS=[one_line(name) for name in request.siblings],
                BELOW=[one_line(name) for name in request.below],
                LANGUAGE=language,
            )
            if len(texts) <= 1 or fits_window(system, user, self._model.settings):
                return system, user
            texts = texts[: len(texts) * 3 // 4]
