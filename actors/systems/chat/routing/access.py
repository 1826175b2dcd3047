"""Who answers what, for whom: the agent and the role of each intent, and the topic that it is about.

Pure; the router asks it once the intent is known. Rights come from the caller's scopes alone: nothing that a
message says can grant one, and tools check again (seed 000 §5).
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from actors.systems.chat.routing.topics import TopicFinder
from models.chat.messages import AgentType, Intent, Turn
from models.config.publishing import TopicConfig
from models.errors import TopicUnknown
from models.people.scopes import Role

# The agent that does it, and the role it takes; None: whoever has a valid token.
ACCESS: Mapping[Intent, tuple[AgentType, Role | None]] = {
    "general": ("main_chat", None),
    "tasks": ("main_chat", None),
    "read": ("article_query", "reader"),
    "resources": ("resource_query", "reader"),
    "research": ("analyst", "analyst"),
    "web": ("web_search", "analyst"),
    "data": ("data_download", "analyst"),
    "submit": ("analyst", "analyst"),
    "review": ("editor", "editor"),
    "changes": ("editor", "editor"),
    "publish": ("editor", "editor"),
    "approvals": ("editor", "editor"),
}
# Here a topic's word only narrows the search, so one that the caller may not have is passed over: people who
# read on macro may ask what macro says about bonds.
_SEARCHES: frozenset[Intent] = frozenset({"read", "resources", "web", "data"})
# Here no topic means all topics that the caller may see.
_OVER_ALL: frozenset[Intent] = frozenset({"general", "tasks", "read", "resources", "approvals"})
_REMEMBERED = 4  # messages
_SHOWN = 80  # characters of an unknown topic


class Assignment(NamedTuple):
    """Who answers, on which topic; with a `refusal`, the scope that it takes, `main_chat` says so."""

    agent_type: AgentType
    topic: str | None
    refusal: str | None = None


class Access:
    """The site's topics, and who may do what on them."""

    def __init__(self, *, topics: Mapping[str, TopicConfig], finder: TopicFinder) -> None:
        self._topics = tuple(topics)
        self._finder = finder

    def check_topic(self, turn: Turn) -> None:
        """Raise TopicUnknown if the turn's `topic` is none of the site's."""
        if turn.topic is not None and turn.topic not in self._topics:
            raise TopicUnknown(
                f"topic: there is no {turn.topic[:_SHOWN]!r} here: use one of {', '.join(self._topics)}, "
                "or leave it out"
            )

    def place(self, intent: Intent, turn: Turn) -> Assignment:
        """Where a turn of this intent goes.

        The topic is the turn's own, or else one that the message names or hints at, or else what was talked
        about before, or else the only one on which the caller has the role. Of several, one counts on which
        the caller has it.
        """
        agent_type, role = ACCESS[intent]
        if role is None:
            # Nobody is refused; a topic's own prompts are for its readers.
            readable = [slug for slug in self._topics if turn.caller.has("reader", slug)]
            return Assignment(agent_type, _first(self._mentioned(turn), readable))
        permitted = [slug for slug in self._topics if turn.caller.has(role, slug)]
        firm, hinted = self._asked_for(turn)
        if firm:
            wanted = firm
        elif hinted and (intent not in _SEARCHES or _first(iter(hinted), permitted)):
            wanted = hinted
        else:
            wanted = ()
        if wanted:
            topic = _first(iter(wanted), permitted)
            return Assignment(agent_type, topic) if topic else _refused(role, wanted[0])
        if not permitted:
            return _refused(role, next(self._mentioned(turn), None))
        topic = _first(self._talked_about(turn), permitted)
        if topic is None and intent not in _OVER_ALL and len(permitted) == 1:
            topic = permitted[0]
        return Assignment(agent_type, topic)

    def _asked_for(self, turn: Turn) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The topics that this message names, and those it hints at."""
        if turn.topic is not None:
            return (turn.topic,), ()
        found = self._finder.find(turn.message)
        return found.named, found.hinted

    def _mentioned(self, turn: Turn) -> Iterator[str]:
        """The topics of this message and of those before, the likeliest first."""
        for group in self._asked_for(turn):
            yield from group
        yield from self._talked_about(turn)

    def _talked_about(self, turn: Turn) -> Iterator[str]:
        """The topics of what the caller said last, the latest first."""
        said = [message.content for message in turn.history if message.role == "user"]
        for text in reversed(said[-_REMEMBERED:]):
            found = self._finder.find(text)
            yield from (*found.named, *found.hinted)


def _first(wanted: Iterator[str], permitted: list[str]) -> str | None:
    return next((slug for slug in wanted if slug in permitted), None)


def _refused(role: Role, topic: str | None) -> Assignment:
    return Assignment("main_chat", topic, refusal=f"{topic or '{topic}'}:{role}")
