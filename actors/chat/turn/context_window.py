"""How much of a conversation a model is shown: the newest messages that fit into its context window. Pure."""

from collections.abc import Sequence

from actors.llm.client import rough_tokens
from models.chat.messages import ChatMessage
from models.config import ModelSettings

# Stands for the answer that a message never got, as when the model was unavailable.
UNANSWERED = "…"


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
