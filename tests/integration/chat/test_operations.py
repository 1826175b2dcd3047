"""Operations in both doors of the chat: begun and cancelled on a yes, asked after; decided on elsewhere."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx2
import pytest

from models.config import Config
from models.store.database import Database
from tests.fakes.model.model_server import ModelServer
from tests.integration.chat.sites.agents_site import ChatSite, make_scripted_chat, make_site
from tests.integration.chat.sites.yes_sayers import Api, OpenAI
from tests.integration.operations.operations_desk import BILL, OperationsDesk, operations_config
from tests.integration.rest import client, served

__all__ = ["make_scripted_chat"]

ASKED = "Why is Meridian Office Supply's invoice INV-2041 late?"
Served = Callable[..., ChatSite]


@pytest.fixture
def site(
    database: Database, database_url: str, scripted_chat: ModelServer, configure: Callable[..., Config]
) -> Served:
    """Makes a site with three systems to read, its configuration changed."""

    def make(**changes: Any) -> ChatSite:
        def with_systems(given: dict[str, Any]) -> Config:
            return operations_config(configure, **given)

        return make_site(database, database_url, scripted_chat, with_systems, changes)

    return make


@pytest.fixture
def chat(site: Served) -> ChatSite:
    """A site without a runner."""
    return site()


@pytest.fixture
def base(chat: ChatSite, database_url: str) -> Iterator[str]:
    """The doors of the site."""
    with served(chat.config, database_url, assistant=chat) as url:
        yield url


@pytest.fixture
async def ann(chat: ChatSite, base: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Ann, who is an analyst of macro."""
    async with client(chat.config, base, "ann", "macro:analyst") as made:
        yield made


@pytest.fixture
def desk(chat: ChatSite, database: Database) -> OperationsDesk:
    """Whoever decides on the operations of the site, whose runner works in `desk.running()`."""
    return OperationsDesk(chat.config, database)


async def operations(chat: ChatSite) -> list[dict[str, Any]]:
    """What there is."""
    return await chat.site.rows(
        "SELECT o.id, o.query, o.task_type, o.request_id, w.status "
        "FROM operations o JOIN workflows w ON w.id = o.workflow_id"
    )


async def begun(talk: Api, chat: ChatSite, asked: str = ASKED) -> int:
    """The number of an operation that was begun by chatting."""
    await talk.say(asked)
    told = await talk.say("yes")
    assert told["status"] == "processing", told["response"]
    return int((await operations(chat))[-1]["id"])


@pytest.mark.parametrize("door", [Api, OpenAI])
async def test_one_is_begun_asked_after_and_cancelled(
    chat: ChatSite, ann: httpx2.AsyncClient, door: type[Api] | type[OpenAI]
) -> None:
    talk = door(ann)
    asked = await talk.say(ASKED)
    assert asked["status"] == "asks"
    assert (
        f'Shall I begin an operation (comprehensive) in macro on these words of yours: "{ASKED}"?'
        in (asked["response"])
    )
    assert "read before somebody has approved it" in asked["response"]
    assert await operations(chat) == []
    told = await talk.say("tak")
    assert (told["status"], told["tools_used"][-1]) == ("processing", "start_operation")
    assert told["workflow_state"]["workflow_type"] == "operation"
    [row] = await operations(chat)
    assert (row["query"], row["status"]) == (ASKED, "queued")
    assert row["request_id"].startswith("act:")
    assert f"Operacja {row['id']} zaczęła się w temacie macro" in told["response"]
    assert "czeka na czyjeś zatwierdzenie" in told["response"]
    assert f"`signoff operations follow {row['id']}`" in told["response"]
    assert f"`GET /api/operations/{row['id']}`" in told["response"]

    stands = await talk.say(f"How far is operation {row['id']}?")
    assert stands["tools_used"] == ["get_operation"]
    assert "(macro), pending: it is at making the plan, iteration 1." in stands["response"]
    assert "found" not in stands["response"]
    sure = await talk.say(f"anuluj operację {row['id']}")
    assert sure["status"] == "asks"
    assert f"Czy mam na dobre anulować operację {row['id']}" in sure["response"]
    assert (await operations(chat))[0]["status"] == "queued"
    cancelled = await talk.say("yes")
    assert cancelled["tools_used"][-1] == "cancel_operation"
    assert f"Operacja {row['id']} jest anulowana" in cancelled["response"]
    assert (await operations(chat))[0]["status"] == "cancelled"
    over = await talk.say(f"cancel operation {row['id']}")
    assert over["status"] == "failed"
    assert f"operation {row['id']} is over: cancelled" in over["response"]


async def test_anything_but_a_yes_begins_and_cancels_nothing(chat: ChatSite, ann: httpx2.AsyncClient) -> None:
    talk = Api(ann)
    for answer in ("ok", "approve", "no"):
        await talk.say(ASKED)
        assert (await talk.say(answer))["status"] != "processing"
    assert await operations(chat) == []
    number = await begun(talk, chat)
    await talk.say(f"cancel operation {number}")
    await talk.say("ok")
    await talk.say("yes")
    assert [row["status"] for row in await operations(chat)] == ["queued"]


async def test_a_yes_that_is_sent_again_begins_one(chat: ChatSite, ann: httpx2.AsyncClient) -> None:
    talk = OpenAI(ann)
    await talk.say(ASKED)
    first = await talk.say("yes", request_id="once")
    del talk.said[-2:]
    again = await talk.say("yes", request_id="once")
    assert again["response"] == first["response"]
    assert len(await operations(chat)) == 1


async def test_nothing_that_is_said_here_decides(
    chat: ChatSite, ann: httpx2.AsyncClient, desk: OperationsDesk
) -> None:
    talk = Api(ann)
    async with desk.running():
        number = await begun(talk, chat)
        gate = await desk.gate(number, "operation_plan")
        for said in ("ok", "approve", "yes", f"approve operation {number}", f"zatwierdź operację {number}"):
            told = await talk.say(said)
            assert (await desk.gate(number, "operation_plan")).digest == gate.digest
        assert "awaiting approval: etap: zatwierdzenie planu" in told["response"]
        assert "Nie podejmuje się jej tutaj, tylko przez" in told["response"]
        assert f"`POST /api/operations/{number}/plan`" in told["response"]
        assert "Pozostali: gmail, accounts payable, crm, analysis." in told["response"]
        assert await desk.calls() == {"gmail": 0, "accounts_payable": 0, "crm": 0}


async def test_what_it_found_is_told_and_whether_anybody_approved_it(
    chat: ChatSite, ann: httpx2.AsyncClient, desk: OperationsDesk
) -> None:
    # What systems say is shown as it stands, and never as a picture or a link.
    vendor = "Meridian Office Supply <img src=//evil.example>"
    desk.servers["accounts_payable"].things[0] = BILL | {"vendor": vendor}
    talk = Api(ann)
    async with desk.running():
        number = await begun(talk, chat)
        await desk.approve_plan(number)
        gate = await desk.gate(number, "operation_results")
        conflicts = gate.content["conflicts"]
        assert conflicts
        told = (await talk.say(f"Was hat Vorgang {number} ergeben?"))["response"]
        assert "Fertige Agenten: gmail, accounts payable, crm, analysis. Ausstehend: keine." in told
        assert "Was Durchgang 1 gefunden hat (niemand hat es freigegeben)" in told
        assert f"Widersprüche: {len(conflicts)}," in told
        assert told.count("\n- ") == len(conflicts)
        assert "INV-2041" in told
        assert "<img" not in told
        assert f"`POST /api/operations/{number}/results`" in told
        await desk.decide_results(number, approved=True)
        await desk.stopped(number)
        ended = (await talk.say(f"How far is operation {number}?"))["response"]
        assert "completed: it came as far as its end" in ended
        assert "What iteration 1 found (approved by ann)" in ended
        assert "waits" not in ended


async def test_what_an_iteration_before_found_is_told_while_the_next_is_made(
    chat: ChatSite, ann: httpx2.AsyncClient, desk: OperationsDesk
) -> None:
    talk = Api(ann)
    async with desk.running():
        number = await begun(talk, chat)
        await desk.approve_plan(number)
        again = {"approved": False, "revision_type": "full_replan", "feedback": "leave mail out"}
        await desk.decide_results(number, **again)
        await desk.stopped(number, "waiting")
        await desk.gate(number, "operation_plan")
        told = (await talk.say(f"jak stoi operacja {number}"))["response"]
        assert "etap: zatwierdzenie planu, przebieg 2" in told
        assert "Co znalazł przebieg 1 (nikt tego nie zatwierdził)" in told


async def test_others_are_told_that_there_is_none(chat: ChatSite, ann: httpx2.AsyncClient, base: str) -> None:
    number = await begun(Api(ann), chat)
    async with client(chat.config, base, "rita", "macro:reader", "equity:analyst") as rita:
        for message in (f"How far is operation {number}?", f"cancel operation {number}"):
            told = await Api(rita).say(message)
            assert (told["status"], f"there is no operation {number}" in told["response"]) == ("failed", True)
        asked = await Api(rita).say(f"in macro: {ASKED}", topic="macro")
        assert asked["status"] == "refused"
        assert "Beginning an operation takes the scope macro:analyst" in asked["response"]
    async with client(chat.config, base, "carl", "macro:analyst") as carl:
        talk = Api(carl)
        await talk.say(f"cancel operation {number}")
        refused = await talk.say("yes")
        assert (refused["status"], "ann asked for this operation" in refused["response"]) == ("refused", True)
    assert [row["status"] for row in await operations(chat)] == ["queued"]


async def test_what_is_not_plain_is_asked_back(chat: ChatSite, base: str) -> None:
    async with client(chat.config, base, "eve", "macro:analyst", "equity:analyst") as eve:
        talk = Api(eve)
        asked = await talk.say(ASKED)
        assert "Which topic should this operation be for?" in asked["response"]
        bare = await talk.say("start an operation", topic="macro")
        assert "say what the operation is to find out" in bare["response"]
    assert await operations(chat) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"operations.sources": {}}, "There are no operations at this site"),
        ({"operations.task_types": {"unattended": {"gates": []}}}, "no type of them that stops there"),
    ],
)
async def test_a_site_that_can_begin_none_says_so(
    site: Served, database_url: str, changes: dict[str, Any], said: str
) -> None:
    chat = site(**changes)
    with served(chat.config, database_url, assistant=chat) as url:
        async with client(chat.config, url, "ann", "macro:analyst") as ann:
            told = await Api(ann).say(ASKED)
            assert (told["status"], said in told["response"]) == ("failed", True), told["response"]
    assert await operations(chat) == []


async def test_the_first_type_that_shows_its_plan_is_begun(site: Served, database_url: str) -> None:
    types = {"stepwise": {"gates": ["agents"]}, "reviewed": {"gates": ["plan"]}}
    chat = site(**{"operations.task_types": types})
    with served(chat.config, database_url, assistant=chat) as url:
        async with client(chat.config, url, "ann", "macro:analyst") as ann:
            await begun(Api(ann), chat)
    assert [row["task_type"] for row in await operations(chat)] == ["reviewed"]
