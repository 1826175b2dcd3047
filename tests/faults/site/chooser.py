"""The model that chooses the calls of the agent of the CRM, played: it looks for leads, then leaves a note.

It goes by its prompt alone, so what was asked the same is chosen the same, by whichever runner.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from models.llm import ModelCall
from tests.faults.site.books import NOTE, SEARCH, code_in

# What somebody says who wants something written.
WANTS_A_NOTE = "leave a note at its account"
_DATA = re.compile(r'<data name="([^"]*)" mark="([^"]*)">\n(.*?)\n</data mark="\2">', re.DOTALL)
_CALLED = re.compile(rf"^\d+\. {SEARCH} (\{{.*?\}}): ", re.MULTILINE)
_PROPOSED = "proposed, a person decides later"
_SPENT = ModelCall(
    agent="crm", model="m", prompt_sha256="p", prompt_tokens=1, completion_tokens=1, latency_seconds=0.0
)


class PlayedChooser:
    """Stands where the client of that model does."""

    async def complete(
        self,
        *,
        messages: Sequence[Mapping[str, Any]],
        response_format: dict[str, Any] | None,
        max_tokens: int | None = None,
    ) -> tuple[str, ModelCall]:
        """The next call, as a model writes it."""
        said = {name: text for name, _, text in _DATA.findall(str(messages[-1]["content"]))}
        tool, arguments = choice(said)
        return json.dumps({"reason": "it may help", "tool": tool, "arguments": arguments}), _SPENT


def choice(said: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The tool and arguments that come next, by what stands between a prompt's marks."""
    before = said.get("calls", "")
    called = {json.loads(given)["query"] for given in _CALLED.findall(before)}
    for lead in said.get("leads", "").split(", "):
        if lead not in called:
            return SEARCH, {"query": lead}
    question = said["question"]
    if WANTS_A_NOTE in question and _PROPOSED not in before:
        return NOTE, {"account": code_in(question), "text": f"asked about {said['leads']}"}
    return "done", {}
