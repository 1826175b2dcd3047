"""Tools, a model's settings and the prompts, for tests of the tool loop; the tools' calls are recorded."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from actors.platform.tools.tool import Input, Output, Tool, ToolContext, tool
from actors.systems.chat.turn.model_messages import Prompts
from models.config import ModelSettings
from models.config.chat import ToolUseConfig
from models.tools import ToolPermission

_PROMPTS = Path(__file__).resolve().parents[2] / "configs" / "prompts" / "chat"
_ANYBODY = ToolPermission(required_role="reader", topic_scoped=False)


class LookUpInput(Input):
    """`limit` is optional: a small model is not shown it."""

    query: str = Field(min_length=1)
    limit: int = Field(default=5, ge=1, le=10)


class GetPageInput(Input):
    article_id: int = Field(ge=1)


class NowInput(Input):
    pass


class Told(Output):
    text: str


@tool(_ANYBODY, rest=None, effect="reads")
async def look_up(context: ToolContext, request: LookUpInput) -> Told:
    """Look something up in the archive.

    More than anybody wants to know about it.
    """
    raise AssertionError("tests give the loop a call of their own")


@tool(_ANYBODY, rest=None, effect="reads")
async def get_page(context: ToolContext, request: GetPageInput) -> Told:
    """Read a page by its number."""
    raise AssertionError("tests give the loop a call of their own")


@tool(_ANYBODY, rest=None, effect="reads")
async def now(context: ToolContext, request: NowInput) -> Told:
    """Tell the time."""
    raise AssertionError("tests give the loop a call of their own")


TOOLS: tuple[Tool, ...] = (look_up, get_page, now)


class Called:
    """Carries calls out: each tool answers with its text, or raises its error. `calls` are in order."""

    def __init__(self, **answers: str | BaseModel | Exception) -> None:
        self._answers = answers
        self.calls: list[tuple[str, dict[str, Any]]] = []

    async def __call__(self, name: str, arguments: dict[str, Any]) -> BaseModel:
        self.calls.append((name, arguments))
        answer = self._answers.get(name, f"{name} answered")
        if isinstance(answer, Exception):
            raise answer
        return Told(text=answer) if isinstance(answer, str) else answer


def chat_prompts() -> Prompts:
    """The prompts as they are shipped."""
    return Prompts({path.stem: path.read_text(encoding="utf-8") for path in _PROMPTS.glob("*.md")})


def chat_settings(api_base: str = "http://127.0.0.1:9/v1", **changes: Any) -> ModelSettings:
    """Settings of a model that loses no time with retries."""
    values: dict[str, Any] = {
        "model": "tiny",
        "api_base": api_base,
        "api_key": "secret-key",
        "context_window": 4096,
        "max_tokens": 100,
        "temperature": 0.2,
        "context_window_threshold": 90,
        "max_retries": 1,
        "retry_delay": 0.0,
        "timeout_seconds": 60,
    }
    return ModelSettings(**(values | changes))


def tool_use(calling: str = "native", **changes: Any) -> ToolUseConfig:
    """How tools are given to the model: all three of `TOOLS`."""
    return ToolUseConfig.model_validate(
        {"calling": calling, "shown": 3, "result_tokens": 200, "beside_sources": True} | changes
    )
