"""What the tests of routing share: callers, turns, a few examples, and a router of them."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from actors.platform.llm.prompts import read_two_part_prompt
from actors.platform.text.classifying.similarity import Likeness
from actors.platform.text.classifying.training import CHOSEN, Examples
from actors.platform.text.normal_form import normal_form
from actors.systems.chat.routing.router import Router
from models.chat.intents import Intents
from models.chat.messages import ChatMessage, Turn
from models.config.chat import RoutingConfig
from models.config.publishing import TopicConfig
from models.people.scopes import highest_role, parse_scope
from models.people.users import UserContext

ROOT = Path(__file__).resolve().parents[4]
PROMPT = read_two_part_prompt(ROOT / "configs/prompts/chat", "routing.md")
TOPICS = {
    "macro": TopicConfig(title="Macroeconomics"),
    "equity": TopicConfig(title="Equities"),
    "fixed_income": TopicConfig(title="Fixed income"),
    "esg": TopicConfig(title="Environment and governance"),
}
INTENTS = Intents(
    voices=Path("voices"),
    weights=Path("weights.npz"),
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


@cache
def likeness() -> Likeness:
    """What is trained on the few examples. They are alike enough to be told apart with some certainty."""
    texts = [normal_form(text) for examples in INTENTS.examples.values() for text in examples]
    labels = [intent for intent, examples in INTENTS.examples.items() for _ in examples]
    examples = Examples(texts, labels, common=len(texts))
    weights = examples.solve(CHOSEN).weights
    return examples.likeness(CHOSEN, weights, temperature=0.15)


def caller(*scopes: str) -> UserContext:
    parsed = tuple(parse_scope(scope) for scope in scopes)
    return UserContext(
        user_id=1, subject="ann", name="Ann", email="", scopes=parsed, role=highest_role(parsed)
    )


def turn(message: str, *scopes: str, said: Sequence[str] = (), topic: str | None = None) -> Turn:
    history = tuple(ChatMessage(role="user", content=text) for text in said)
    return Turn(caller=caller(*(scopes or ("global:admin",))), message=message, history=history, topic=topic)


def routing(**changes: Any) -> RoutingConfig:
    values = {"sure": 0.5, "candidates": 3, "ask_model": True} | changes
    return RoutingConfig.model_validate(values)


def router(*, settings: RoutingConfig | None = None, **changes: Any) -> Router:
    values: dict[str, Any] = {
        "intents": INTENTS,
        "likeness": likeness(),
        "topics": TOPICS,
        "model": None,
        "prompt": PROMPT,
    } | changes
    return Router(settings=settings or routing(), **values)
