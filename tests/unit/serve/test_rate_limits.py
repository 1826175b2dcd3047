"""`tools.rate_limits` names tools that there are: a limit under a misspelt name would hold nobody back."""

import pytest

from actors.platform import systems
from models.config import Config, RateLimit
from models.errors import ConfigInvalid
from serve.api import build_api

FEW = RateLimit(calls=1, per_seconds=60)


def limited(config: Config, *names: str) -> Config:
    tools = config.tools.model_copy(update={"rate_limits": dict.fromkeys(names, FEW)})
    return config.model_copy(update={"tools": tools})


def test_every_tool_and_the_chat_may_have_one(config: Config) -> None:
    assert build_api(config, "postgresql://x/y") is not None
    assert (
        build_api(limited(config, "chat", *(tool.name for tool in systems.tools())), "postgresql://x/y")
        is not None
    )


def test_what_is_no_tool_is_told_as_the_api_is_built(config: Config) -> None:
    with pytest.raises(ConfigInvalid) as refused:
        build_api(limited(config, "publsh_article", "chat", "zzz"), "postgresql://x/y")
    first, second = str(refused.value).splitlines()
    assert first.startswith("tools.rate_limits.publsh_article: is no tool: did you mean publish_article")
    assert second.startswith("tools.rate_limits.zzz: is no tool: there are search_articles, ")
    assert second.endswith(", chat")
