"""Who may do what, and on which topic: rules that hold for whatever is typed by whomever."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.chat.routing.access import ACCESS, Access
from actors.systems.chat.routing.router import Router
from actors.systems.chat.routing.topics import TopicFinder
from models.chat.messages import INTENTS, ChatMessage, Intent
from models.config.chat import RoutingConfig
from models.people.scopes import ROLES, Role
from tests.unit.chat.routing import routers
from tests.unit.chat.routing.routers import TOPICS, turn

FINDER = TopicFinder(TOPICS, routers.INTENTS.topics)
ACCESS_HERE = Access(topics=TOPICS, finder=FINDER)
WORDS = ["inflation", "bonds", "green bonds", "macro", "Fixed income", "esg", "carbon", "write", "publish 12"]
SCOPES = [f"{topic}:{role}" for topic in (*TOPICS, "elsewhere", "global") for role in ROLES]
TAKES: dict[Intent, tuple[str, Role | None]] = {
    "general": ("main_chat", None),
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
    "tasks": ("main_chat", None),
}


@pytest.mark.parametrize("intent", INTENTS)
@pytest.mark.parametrize("role", [None, *ROLES])
def test_each_intent_takes_its_role(intent: Intent, role: Role | None) -> None:
    agent, wanted = TAKES[intent]
    scopes = [f"macro:{role}"] if role else ["macro:reader"]
    person = turn("something", *scopes).caller
    if role is None:
        person = person.model_copy(update={"scopes": (), "role": None})
    place = ACCESS_HERE.place(intent, turn("something", "macro:reader").model_copy(update={"caller": person}))
    if wanted is None or (role and ROLES.index(role) >= ROLES.index(wanted)):
        assert (place.agent_type, place.refusal) == (agent, None)
    else:
        assert (place.agent_type, place.refusal) == ("main_chat", f"{{topic}}:{wanted}")


def test_every_intent_has_an_agent() -> None:
    assert set(ACCESS) == set(get_args(Intent))


@given(
    intent=st.sampled_from(INTENTS),
    scopes=st.lists(st.sampled_from(SCOPES), max_size=4),
    message=st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join),
    said=st.lists(st.sampled_from(WORDS), max_size=3),
    topic=st.sampled_from([None, *TOPICS]),
)
def test_nobody_gets_what_their_scopes_do_not_give(
    intent: Intent, scopes: list[str], message: str, said: list[str], topic: str | None
) -> None:
    it = turn(message, "macro:reader", said=said, topic=topic)
    it = it.model_copy(update={"caller": routers.caller(*scopes)})
    agent, role = TAKES[intent]
    place = ACCESS_HERE.place(intent, it)
    if place.refusal is None:
        assert place.agent_type == agent
        if place.topic is not None:
            assert it.caller.has(role or "reader", place.topic)
        else:
            assert role is None or it.caller.has(role)
        assert topic in (None, place.topic) or role is None
    else:
        assert role is not None
        where, _, wanted = place.refusal.rpartition(":")
        assert (place.agent_type, wanted) == ("main_chat", role)
        if where == "{topic}":
            assert not any(it.caller.has(role, slug) for slug in TOPICS)
        else:
            assert not it.caller.has(role, where)


@pytest.mark.parametrize(
    ("intent", "message", "scopes", "expected"),
    [
        # The longest match counts, whole words only, in any language.
        ("read", "what about green bonds", ["global:reader"], "esg"),
        ("read", "co z zielonymi obligacjami?", ["global:reader"], "esg"),
        ("read", "co z obligacjami", ["global:reader"], "fixed_income"),
        ("read", "INFLACJĄ", ["global:reader"], "macro"),
        ("read", "a bondage of carbonara", ["global:reader"], None),
        ("read", "vagabond turmoil macros", ["global:reader"], None),
        # A name goes before a hint.
        ("read", "inflation in fixed income", ["global:reader"], "fixed_income"),
        ("read", "inflation in fixed_income", ["global:reader"], "fixed_income"),
        ("read", "on environment and governance", ["global:reader"], "esg"),
        # Of several, one counts on which the caller may.
        ("research", "write on green bonds and inflation", ["macro:analyst"], "macro"),
        # Searches pass over hints that the caller may not have; no topic means all of theirs.
        ("read", "what about bonds", ["macro:reader", "esg:reader"], None),
        ("web", "news on bonds", ["macro:analyst"], "macro"),
        # The only topic, where one is needed.
        ("research", "write something", ["macro:analyst", "esg:reader"], "macro"),
        ("research", "write something", ["macro:analyst", "esg:analyst"], None),
        ("publish", "publish 12", ["esg:editor"], "esg"),
        ("approvals", "what waits", ["esg:editor"], None),
        ("read", "what is new", ["esg:reader"], None),
        ("general", "hello", ["esg:reader"], None),
        ("general", "hello, I like carbon", ["esg:reader"], "esg"),
        ("general", "hello, I like carbon", ["macro:reader"], None),
        ("read", "what is the weather", ["global:reader"], None),
    ],
)
def test_the_topic(intent: Intent, message: str, scopes: list[str], expected: str | None) -> None:
    place = ACCESS_HERE.place(intent, turn(message, *scopes))
    assert (place.topic, place.refusal) == (expected, None)


@pytest.mark.parametrize(
    ("intent", "message", "scopes", "refusal"),
    [
        ("research", "write about bonds", ["macro:analyst"], "fixed_income:analyst"),
        ("read", "what does esg say", ["macro:reader"], "esg:reader"),
        ("web", "news on esg", ["macro:analyst"], "esg:analyst"),
        ("publish", "publish the carbon article", ["macro:editor"], "esg:editor"),
        ("publish", "publish 12", ["elsewhere:editor"], "{topic}:editor"),
        ("research", "write on inflation and bonds", ["esg:analyst"], "macro:analyst"),
    ],
)
def test_a_topic_that_is_not_permitted(intent: Intent, message: str, scopes: list[str], refusal: str) -> None:
    assert ACCESS_HERE.place(intent, turn(message, *scopes)).refusal == refusal


def test_the_conversation_goes_on_about_its_topic() -> None:
    said = ["about carbon", "and inflation", "hm"]
    assert ACCESS_HERE.place("read", turn("why?", "global:reader", said=said)).topic == "macro"
    assert ACCESS_HERE.place("read", turn("why?", "esg:reader", said=said)).topic == "esg"
    assert ACCESS_HERE.place("read", turn("why bonds?", "global:reader", said=said)).topic == "fixed_income"
    old = ["about carbon", *["hm"] * 4]
    assert ACCESS_HERE.place("read", turn("why?", "global:reader", said=old)).topic is None
    refused = ACCESS_HERE.place("research", turn("write it up", "global:reader", said=said))
    assert refused.refusal == "macro:analyst"


def test_what_the_assistant_said_is_nobodys_topic() -> None:
    answer = ChatMessage(role="assistant", content="Carbon prices rose.")
    it = turn("why?", "global:reader", said=["about inflation"])
    assert (
        ACCESS_HERE.place("read", it.model_copy(update={"history": (*it.history, answer)})).topic == "macro"
    )


def test_a_longer_phrase_counts_before_a_shorter_one_that_it_begins_with() -> None:
    finder = TopicFinder(TOPICS, {"macro": ("rate", "rate cut decision"), "equity": ("rate cut",)})
    assert finder.find("the rate cut decision").hinted == ("macro", "equity")


def test_the_turns_own_topic_goes_before_all() -> None:
    it = turn("what about bonds", "global:reader", said=["carbon"], topic="equity")
    assert ACCESS_HERE.place("read", it).topic == "equity"
    refused = ACCESS_HERE.place("read", turn("what about macro", "macro:reader", topic="equity"))
    assert refused.refusal == "equity:reader"


async def ready(settings: RoutingConfig) -> Router:
    return routers.router(settings=settings)


async def test_where_it_is_unsure_nobody_is_refused_what_they_may_not_have_asked_for() -> None:
    router = await ready(routers.routing(ask_model=False))
    message = "explain an article about inflation"
    unsure = await router.route(routers.turn(message, "macro:reader", topic="macro"))
    assert (unsure.by, unsure.refusal) == ("best_guess", None)
    assert unsure.agent_type in ("main_chat", "article_query", "resource_query")
    may = await router.route(routers.turn(message, "macro:analyst", topic="macro"))
    assert may.intent == "research"
    plain = "write an article on the inflation"
    refused = await router.route(routers.turn(plain, "macro:reader", topic="macro"))
    assert (refused.intent, refused.refusal) == ("research", "macro:analyst")
