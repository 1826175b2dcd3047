"""Which messages ask for an operation, and which are about one that is there."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

import pytest
import yaml

from actors.systems.chat.routing.deep_research import research_named
from actors.systems.chat.routing.examples import read_intents
from actors.systems.chat.routing.operations import asks_for_operation, is_bare_wish, operation_named
from cluster.train_intents import read_corpus
from models.config import Config
from tests.unit.chat.routing import routers
from tests.unit.chat.routing.routers import ROOT, turn

MESSAGES = ROOT / "benchmarks/intents/operations"
Asks = Literal["begins", "tells", "cancels", "none"]


class Meant(NamedTuple):
    """A message, what it asks for, and what it is taken for."""

    text: str
    asks: Asks
    taken: Asks


def taken_for(message: str) -> Asks:
    """What the rules make of a message, in the order in which they are asked."""
    if (named := operation_named(message)) is not None:
        return "cancels" if named.cancels else "tells"
    return "begins" if asks_for_operation(message) else "none"


def read(name: str) -> list[Meant]:
    """The messages of a file."""
    rows = yaml.safe_load((MESSAGES / name).read_text(encoding="utf-8"))
    return [Meant(row["text"], row["asks"], taken_for(row["text"])) for row in rows]


def right(messages: Iterable[Meant], asks: Asks) -> float:
    """Of those that ask for something, the share that is taken for it."""
    found = Counter(one.taken == one.asks for one in messages if one.asks == asks)
    return found[True] / found.total()


def test_messages_that_the_rules_were_made_with() -> None:
    tried = read("tried.yaml")
    assert len(tried) >= 250
    assert right(tried, "begins") >= 0.95, [one for one in tried if one.taken != one.asks]
    for asks in ("none", "tells", "cancels"):
        assert [one for one in tried if one.asks == asks != one.taken] == []


@pytest.mark.parametrize(("name", "least"), [("kept.yaml", 0.95), ("fresh.yaml", 0.70)])
def test_messages_that_were_kept_apart(name: str, least: float) -> None:
    """Shares alone: whoever works on the rules does not look at these."""
    kept = read(name)
    assert right(kept, "begins") >= least
    for asks in {one.asks for one in kept} - {"begins"}:
        assert right(kept, asks) >= 0.98


@pytest.mark.heavy
async def test_no_message_of_those_who_want_something_else_is_taken_for_one(config: Config) -> None:
    """What twelve people wrote, and five hundred examples: nobody had operations in mind."""
    intents = read_intents(config.chat.intents_file)
    voices = [said.text for voice in read_corpus(intents).voices.values() for said in voice]
    texts = [*voices, *(text for texts in intents.examples.values() for text in texts)]
    assert len(texts) > 4000
    assert [text for text in texts if taken_for(text) != "none"] == []


@pytest.mark.parametrize(
    ("message", "number", "cancels"),
    [
        ("How far is operation 7?", 7, False),
        ("Jak stoi operacja 7?", 7, False),
        ("Stand von Vorgang 7?", 7, False),
        ("Cancel operation 7", 7, True),
        ("approve operation 7", 7, False),
        ("opeartion #12, any news", 12, False),
        ("please stop the operation nr 9", 9, True),
        ("could you abort operation 4", 4, True),
        ("kannst du vorgang nummer 3 abbrechen", 3, True),
        ("prosze przerwac operacje 15", 15, True),
        ("czy mozesz anulowac operacje 15", 15, True),
        ("why was operation 7 stopped", 7, False),
        ("when does operation 7 end", 7, False),
        ("don't cancel operation 7", 7, False),
        ("vorgang 7 nicht abbrechen", 7, False),
        ("nie anuluj operacji 7", 7, False),
    ],
)
def test_an_operation_is_named_by_its_number(message: str, number: int, cancels: bool) -> None:
    assert operation_named(message) == (number, cancels)
    assert not asks_for_operation(message) or "operation 7" not in message


@pytest.mark.parametrize(
    "message",
    [
        "how far is my operation?",
        "ecb operation 7 billion allotted",
        "operations 2025 outlook",
        "ist im Vorgang 63-114 etwas geregelt",
        "How far is research 12?",
        "cancel article 7",
        "write an article about operation 7",
        "How far is operation 12? " + "And more of that. " * 20,
    ],
)
def test_what_names_none(message: str) -> None:
    assert operation_named(message) is None


@pytest.mark.parametrize(
    ("message", "is_one"),
    [
        ("run an operation: what about Kowalski", True),
        ("operation: who is Globex", True),
        ("uruchom operację: Kowalski", True),
        ("Starte einen neuen Vorgang zu Berger", True),
        ("ECB open market operation: what changed", False),
        ("Military operation: oil prices rise", False),
        ("new operation in Sudan, oil prices rise", False),
        ("start a draft on operations of central banks", False),
        (
            "run an operation: deep research on invoices of Meridian",
            False,
        ),  # deep research has words of its own
    ],
)
def test_an_operation_may_be_asked_for_by_name(message: str, is_one: bool) -> None:
    assert asks_for_operation(message) == is_one


def test_a_number_of_a_bill_is_enough_and_a_year_is_none() -> None:
    assert asks_for_operation("inv 2041")
    assert asks_for_operation("the directive says so, and yet invoice A-1177 is open")
    assert not asks_for_operation("faktura 2026: what the directive changes")
    assert not asks_for_operation("article on invoice INV-2041")


def test_only_what_a_message_begins_with_counts() -> None:
    assert not asks_for_operation("Rates are still high. " * 20 + "Why is Meridian's invoice INV-2041 late?")


def test_a_wish_that_says_nothing_is_known_as_such() -> None:
    assert [
        is_bare_wish(said) for said in ("start an operation", "Run a new operation!", "neuer Vorgang")
    ] == [True] * 3
    assert not is_bare_wish("start an operation on Acme")
    assert not is_bare_wish("start a research")


async def test_the_router_hands_them_to_the_analyst_and_to_main_chat() -> None:
    router = routers.router()
    begins = await router.route(turn("Why is Meridian's invoice INV-2041 late?", "macro:analyst"))
    assert (begins.intent, begins.agent_type, begins.topic) == ("research", "analyst", "macro")
    assert begins.reason == "asks for an operation"
    for message in ("How far is operation 7?", "cancel operation 7"):
        told = await router.route(turn(message, "macro:reader"))
        assert (told.intent, told.agent_type) == ("tasks", "main_chat")
    refused = await router.route(turn("Why is Meridian's invoice INV-2041 late?", "macro:reader"))
    assert (refused.agent_type, refused.refusal is None) == ("main_chat", False)
    both = "How far is research 12 of operation 7?"
    assert research_named(both) is not None
    assert (await router.route(turn(both))).reason == "names a deep research by its number"
