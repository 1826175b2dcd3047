"""Research: so far the agent that tells what a query asks for; no workflow can be begun yet. Seed 002."""

from typing import Any

from actors.llm.prompts import read_two_part_prompt
from actors.system import AgentDirectory, System
from models.config import Config


def _intent_reader(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    from actors.research.agents.intent_reader import PROMPT
    from actors.research.intents.classify import check_intents

    settings = config.research.intents
    return {
        "settings": settings,
        "breaker": config.outages.breaker,
        "prompt": read_two_part_prompt(config.research.prompts_dir, PROMPT),
        # Of what it is made tells whether it must be made anew: weights are read by their path.
        "trained": check_intents(settings.signs_file, settings.weights_file),
    }


SYSTEM = System(
    name="research",
    roles={"intent_reader": ("actors.research.agents.intent_reader:IntentReader", _intent_reader)},
)
