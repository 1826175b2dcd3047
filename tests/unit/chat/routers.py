"""What the tests of routing share: callers, turns, a few examples, an embedder to steer, a router of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from actors.chat.routing import Router
from actors.runtime.prompts import read_chat_prompt
from models.chat import ChatMessage, Turn
from models.config_chat import RoutingConfig
from models.config_publishing import TopicConfig
from models.intents import Intents
from models.scopes import highest_role, parse_scope
from models.users import UserContext
from tests.fakes.knowledge_base import FakeEmbedder

ROOT = Path(__file__).resolve().parents[3]
PROMPT = read_chat_prompt(ROOT / "configs/prompts/chat", "routing.md")
TOPICS = {
    "macro": TopicConfig(title="Macroeconomics"),
    "equity": TopicConfig(title="Equities"),
    "fixed_income": TopicConfig(title="Fixed income"),
    "esg": TopicConfig(title="Environment and governance"),
}
INTENTS = Intents(
    examples={
        "general": ("hello there", "what can you do?", "thank you"),
        "read": ("what did we write on inflation?", "why are bond yields falling", "explain this"),
        "resources": ("do we have CPI tables?", "find resources"),
        "research": ("write an article about inflation", "write an article about green bonds", "write it up"),
        "web": ("search the web for oil", "google the news"),
        "data": ("download the EURUSD rate", "price of apple"),
        "submit": ("submit article 12", "hand in my draft"),
        "review": ("review article 12", "proofread the draft"),
        "changes": ("send article 12 back", "request changes"),
        "publish": ("publish article 12", "put 12 live"),
        "approvals": ("what waits for my sign-off", "approve 12"),
        "tasks": ("how is my research going", "cancel the task"),
    },
    topics={
        "macro": ("inflation*", "inflacj*", "oil"),
        "fixed_income": ("bond", "bonds", "obligacj*"),
        "esg": ("green bond*", "zielon* obligacj*", "carbon"),
        "unknown_here": ("weather",),
    },
)


class CountingEmbedder(FakeEmbedder):
    """A FakeEmbedder that tells how many texts it was asked for."""

    @property
    def texts(self) -> list[str]:
        return [text for batch in self.batches for text in batch]


class Refusing:
    """An embedder that must not be asked."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        raise AssertionError(f"embedded {texts}")


def caller(*scopes: str) -> UserContext:
    parsed = tuple(parse_scope(scope) for scope in scopes)
    return UserContext(
        user_id=1, subject="ann", name="Ann", email="", scopes=parsed, role=highest_role(parsed)
    )


def turn(message: str, *scopes: str, said: Sequence[str] = (), topic: str | None = None) -> Turn:
    history = tuple(ChatMessage(role="user", content=text) for text in said)
    return Turn(caller=caller(*(scopes or ("global:admin",))), message=message, history=history, topic=topic)


def routing(**changes: Any) -> RoutingConfig:
    values = {"min_score": 0.35, "min_margin": 0.1, "candidates": 3, "ask_model": True} | changes
    return RoutingConfig.model_validate(values)


def router(embedder: Any = None, *, settings: RoutingConfig | None = None, **changes: Any) -> Router:
    values: dict[str, Any] = {"intents": INTENTS, "topics": TOPICS, "model": None, "prompt": PROMPT} | changes
    return Router(settings=settings or routing(), embedder=embedder or Refusing(), **values)
