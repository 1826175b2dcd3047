"""What a model of the chat is told: the system prompt, and the messages of a conversation.

System prompt = base + topic + tonality + constraints (seed 000 §3.2). Site and role decide what is in it;
the person's words, an OpenAI client's instructions among them, stay in the messages. Pure.
"""

from collections.abc import Mapping, Sequence

from actors.platform.llm.client import rough_tokens
from actors.platform.llm.prompts import Prompt
from actors.systems.chat.turn.sources import CitedSource
from models.chat.messages import ChatMessage, Turn
from models.config import ModelSettings, PublishingConfig
from models.errors import PromptInvalid
from models.people.scopes import Role
from models.people.users import UserContext

# Stands for the answer that a message never got, as when the model was unavailable.
UNANSWERED = "…"
# Tokens kept for the tools that are offered and for what they answer first.
_TOOL_ROOM = 500
# A source of fewer characters tells nothing.
_LEAST_SOURCE = 100
_ROLES: tuple[Role, ...] = ("reader", "editor", "analyst")


class Prompts:
    """The chat's prompt files by name, as templates that are read once."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = dict(sources)
        self._prompts: dict[str, Prompt] = {}

    def render(self, name: str, **values: object) -> str:
        """The text of `{name}.md`, without white space around it.

        Raises:
            PromptInvalid: there is no such file, or it names what is not given.
        """
        if name not in self._prompts:
            if name not in self._sources:
                raise PromptInvalid(f"chat.prompts_dir has no {name}.md: add the file")
            self._prompts[name] = Prompt(source=self._sources[name], name=f"{name}.md")
        return self._prompts[name].render(**values).strip()


def topics_by_role(caller: UserContext, settings: PublishingConfig) -> dict[Role, tuple[str, ...]]:
    """The site's topics on which the caller reaches each role."""
    return {role: tuple(topic for topic in settings.topics if caller.has(role, topic)) for role in _ROLES}


def system_prompt(
    prompts: Prompts,
    *,
    task: str,
    caller: UserContext,
    settings: PublishingConfig,
    topic: str | None,
    topic_text: str,
) -> str:
    """Base, topic, tonality and constraints. `task` names the file with what this agent does."""
    known = settings.topics.get(topic) if topic else None
    return prompts.render(
        "system",
        TASK=prompts.render(task, TOPICS=topics_by_role(caller, settings)),
        TOPIC=known.title if known else None,
        TOPIC_TEXT=topic_text,
        TONALITY=caller.chat_tonality_text,
    )


def question(
    prompts: Prompts, *, turn: Turn, sources: Sequence[CitedSource] = (), most: int | None = None
) -> str:
    """The user's message as the model reads it: sources fenced as data, then what the person wrote.

    Args:
        most: characters of each source that are read; all of them if absent.
    """
    return prompts.render(
        "question",
        SOURCES=[(source.number, f"{source.title}\n{source.text[:most]}") for source in sources],
        INSTRUCTIONS=turn.instructions,
        MESSAGE=turn.message,
    )


def messages_for_model(
    prompts: Prompts, *, system: str, turn: Turn, sources: Sequence[CitedSource], settings: ModelSettings
) -> list[dict[str, str]]:
    """The messages of a model call: the system prompt, as much of the history as fits, and the question.

    Sources are cut short where the context window has no room for them; the person's words never are.
    """
    room = settings.context_window * settings.context_window_threshold // 100
    room -= settings.max_tokens + _TOOL_ROOM
    most = max((len(source.text) for source in sources), default=0)
    while True:
        user = question(prompts, turn=turn, sources=sources, most=most)
        fixed = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        tokens = rough_tokens(fixed)
        if tokens <= room or most < _LEAST_SOURCE:
            break
        most = most * 2 // 3
    history = fit(turn.history, fixed_tokens=tokens, settings=settings)
    before = [{"role": message.role, "content": message.content} for message in history]
    return [fixed[0], *before, fixed[1]]


def fit(history: Sequence[ChatMessage], *, fixed_tokens: int, settings: ModelSettings) -> list[ChatMessage]:
    """The end of `history` (oldest first) that fits, ready to have the user's next message put after it.

    Messages stay whole, and the oldest go first. What is left begins with the user, ends with the assistant,
    and they take turns, because many chat templates refuse anything else: neighbours of one role become one
    message, and a last message that was never answered gets `UNANSWERED`. Blank messages are left out.

    Args:
        fixed_tokens: what the rest of the prompt takes, the next message included.
    """
    room = settings.context_window * settings.context_window_threshold // 100
    room -= settings.max_tokens + fixed_tokens
    kept: list[ChatMessage] = []
    for message in reversed([message for message in history if message.content.strip()]):
        if not kept and message.role == "user":
            room -= _tokens(ChatMessage(role="assistant", content=UNANSWERED))
        room -= _tokens(message)
        if room < 0:
            break
        kept.append(message)
    kept.reverse()
    while kept and kept[0].role == "assistant":
        del kept[0]
    return _alternating(kept)


def _alternating(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    turns: list[ChatMessage] = []
    for message in messages:
        if turns and turns[-1].role == message.role:
            joined = f"{turns[-1].content}\n\n{message.content}"
            turns[-1] = ChatMessage(role=message.role, content=joined)
        else:
            turns.append(message)
    if turns and turns[-1].role == "user":
        turns.append(ChatMessage(role="assistant", content=UNANSWERED))
    return turns


def _tokens(message: ChatMessage) -> int:
    return rough_tokens([{"content": message.content}])
