"""The chat: agents that answer people's messages. It begins other systems' workflows by their tools."""

from typing import Any

from actors.platform.llm.prompts import read_prompt
from actors.platform.system import AgentDirectory, System
from models.config import Config


def _chat_agent(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    """What every agent of the chat is made with; `prompts` are the sources of all chat prompts, by name."""
    root = config.chat.prompts_dir
    names = sorted(path.stem for path in root.glob("*.md"))
    prompts = {name: read_prompt(root, f"{name}.md") for name in names}
    return {"config": config, "directory": directory, "prompts": prompts}


def _main_chat(config: Config, directory: AgentDirectory) -> dict[str, Any]:
    from actors.systems.chat.routing.examples import read_intents
    from actors.systems.chat.routing.weights_file import check_weights

    intents = read_intents(config.chat.intents_file)
    # Of what it is made tells whether it must be made anew: weights are read by their path.
    trained = intents.model_copy(update={"trained_on": check_weights(intents)})
    return _chat_agent(config, directory) | {"intents": trained}


SYSTEM = System(
    name="chat",
    roles={
        "main_chat": ("actors.systems.chat.agents.main_chat:MainChat", _main_chat),
        "article_query": ("actors.systems.chat.agents.article_query:ArticleQuery", _chat_agent),
        "analyst": ("actors.systems.chat.agents.analyst:Analyst", _chat_agent),
        "resource_query": ("actors.systems.chat.agents.resource_query:ResourceQuery", _chat_agent),
        "web_search": ("actors.systems.chat.agents.web_search:WebSearch", _chat_agent),
        "data_download": ("actors.systems.chat.agents.data_download:DataDownload", _chat_agent),
        "editor": ("actors.systems.chat.agents.editor:Editor", _chat_agent),
    },
)
