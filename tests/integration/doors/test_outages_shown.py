"""Outages as people see them: readiness, who waits for what, and answers that do not wait."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from typing import Any

import httpx2
import openai
import pytest

from cluster import status as site_status
from models.chat.messages import Done, Piece, Routed, Said, Turn
from models.config import Config
from models.errors import AgentDied, ModelUnavailable
from models.store.database import Database
from serve.monitoring.ray_state import AgentNotUp
from serve.monitoring.readiness import Probes, Readiness
from tests.fakes.model.model_server import ModelServer
from tests.integration.chat.sites.chat_site import told
from tests.integration.doors.openai_site import openai_client
from tests.integration.rest import client, served

Configure = Callable[..., Config]
MODEL = "smollm2-135m-instruct"
SINCE = "2026-11-21 12:03:04+00"
URL = "http://user:secret@models.internal:8000/llm/v1"


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """What the site's models and embeddings are served by."""
    with ModelServer() as server:
        yield server


@pytest.fixture
def config(configure: Configure, model: ModelServer) -> Config:
    """A site whose models are all at the scripted server, as if it served them itself."""
    return configure(everywhere(f"{model.url}/llm/v1", model.base_url))


def everywhere(llm: str, embeddings: str) -> dict[str, str]:
    """Changes that put all models at one endpoint, and the embeddings at another."""
    agents = ["writer_llm", "article_review_llm", "concern_mapping_llm"]
    names = [f"article_generation.agents.{name}" for name in agents]
    roles = ["fact_check", "evidence_finding", "opinion", "attribution", "style_review"]
    names += [f"article_generation.agents.specialists.{role}_llm" for role in roles]
    names += ["chat.assistant_llm", "drafting.llm", "knowledge.extraction.llm"]
    names += [
        f"research.{name}" for name in ("intents.llm", "tree.llm", "synthesis.llm", "synthesis.checker_llm")
    ]
    names += [f"operations.{name}_llm" for name in ("planner", "agents", "analysis")]
    changes = {f"{name}.api_base": llm for name in names}
    return changes | {"embedding.api_base": embeddings}


class Cluster:
    """What Ray would say, and how often it was asked."""

    def __init__(self) -> None:
        self.running = {"llmserversmollm2135minstruct": 1, "embeddings": 1}
        self.coming: tuple[AgentNotUp, ...] = ()
        self.asked = 0

    async def replicas(self) -> dict[str, int]:
        """Running replicas by deployment."""
        self.asked += 1
        return self.running

    async def agents(self) -> tuple[AgentNotUp, ...]:
        """Agents that are not up."""
        return self.coming

    @property
    def probes(self) -> Probes:
        """As the app takes them."""
        return Probes(replicas=self.replicas, agents=self.agents)


@pytest.fixture
def cluster() -> Cluster:
    """A cluster where all is well."""
    return Cluster()


@pytest.fixture
async def door(
    config: Config, database_url: str, cluster: Cluster, runner: None
) -> AsyncIterator[httpx2.AsyncClient]:
    """Anybody, without a token."""
    with served(config, database_url, probes=cluster.probes) as base:
        async with httpx2.AsyncClient(base_url=base, trust_env=False, timeout=30) as made:
            yield made


@pytest.fixture
async def runner(database: Database) -> None:
    """A runner with a live lease."""
    async with database.connection() as connection:
        await connection.execute(
            """INSERT INTO runners (id, name, node, pid, lease_until)
               VALUES ('r', 'r', 'n', 1, now() + '1 hour')"""
        )


async def park(database: Database, waits_for: str, count: int = 1, *, due: str = "1 hour") -> None:
    async with database.connection() as connection:
        await connection.execute(
            """INSERT INTO workflows
                   (id, kind, input, input_digest, requested_by, status, parked_for, parked_since, not_before)
               SELECT %(what)s || n, 'k', '{}', '', 'ann', 'parked', %(what)s, %(since)s,
                      now() + %(due)s::interval
               FROM generate_series(1, %(count)s) n""",
            {"what": waits_for, "since": SINCE, "count": count, "due": due},
        )


async def hold_all(database: Database, lease: str) -> None:
    """One batch holds every workflow, and its lease ends then."""
    async with database.connection() as connection:
        await connection.execute(
            """INSERT INTO batches (id, requested_by, lease_until)
               VALUES ('b', 'ann', now() + %(lease)s::interval)
               ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until""",
            {"lease": lease},
        )
        await connection.execute(
            "INSERT INTO batch_workflows SELECT 'b', id FROM workflows ON CONFLICT DO NOTHING"
        )


async def until(door: httpx2.AsyncClient, ready: dict[str, bool]) -> dict[str, Any]:
    """The site's needs by name, once they are as they should be."""
    async with asyncio.timeout(20):
        while True:
            answer = await door.get("/health/ready")
            needs = {need["name"]: need for need in answer.json()["needs"]}
            assert answer.status_code == (200 if answer.json()["ready"] else 503)
            if {name: need["ready"] for name, need in needs.items()} == ready:
                return needs
            await asyncio.sleep(0.05)  # what was found is good for a second


ALL = {
    "database": True,
    "runners": True,
    f"model {MODEL}": True,
    "embeddings all-minilm-l6-v2": True,
    "agents": True,
}


async def test_a_site_is_ready_when_all_is_there(door: httpx2.AsyncClient, cluster: Cluster) -> None:
    await until(door, ALL)
    asked = cluster.asked
    answers = await asyncio.gather(*(door.get("/health/ready") for _ in range(50)))
    assert {answer.status_code for answer in answers} == {200}
    assert cluster.asked - asked <= 3  # a look a second, whoever asks


async def test_each_thing_that_is_away_is_named_with_since_when(
    door: httpx2.AsyncClient, cluster: Cluster, database: Database
) -> None:
    await until(door, ALL)
    cluster.running = {"embeddings": 1}
    cluster.coming = (AgentNotUp("writer", again=True),)
    async with database.connection() as connection:
        await connection.execute("UPDATE runners SET lease_until = now() - interval '1 second'")
    away = {**ALL, f"model {MODEL}": False, "agents": False, "runners": False}
    needs = await until(door, away)
    assert needs["agents"]["reason"] == "starting: writer"
    assert needs[f"model {MODEL}"]["reason"] == "no replica runs: Serve is starting one"
    first = needs[f"model {MODEL}"]["since"]
    assert first is not None
    looks = cluster.asked
    while cluster.asked < looks + 2:
        assert (await until(door, away))[f"model {MODEL}"]["since"] == first
    cluster.running["llmserversmollm2135minstruct"] = 1
    needs = await until(door, {**away, f"model {MODEL}": True})
    assert needs[f"model {MODEL}"]["since"] is None


async def test_an_agent_on_its_first_start_keeps_nobody_from_the_site_unless_it_takes_too_long(
    config: Config, database: Database, cluster: Cluster, runner: None
) -> None:
    cluster.coming = (AgentNotUp("analyst", again=False),)
    told: list[str | None] = []
    for patience in (60.0, 0.0):
        readiness = Readiness(
            config=config, database=database, probes=cluster.probes, first_start_seconds=patience
        )
        needs = {need.name: need for need in await readiness.look()}
        told.append(needs["agents"].reason)
        await readiness.close()
    assert told == [None, "starting: analyst"]


async def test_an_endpoint_that_nobody_answers_at_is_not_ready(
    door: httpx2.AsyncClient, model: ModelServer
) -> None:
    await until(door, ALL)
    model.kill()
    await until(door, {**ALL, f"model {MODEL}": False, "embeddings all-minilm-l6-v2": False})


@pytest.mark.parametrize("away", ["article_generation.agents.writer_llm", "drafting.llm"])
async def test_endpoints_of_one_name_are_told_apart(
    configure: Configure, database_url: str, model: ModelServer, runner: None, away: str
) -> None:
    """A model of the chat's name that nobody serves elsewhere keeps no chat waiting."""
    nowhere = "http://127.0.0.1:9/llm/v1"
    site = configure({**everywhere(f"{model.url}/llm/v1", model.base_url), f"{away}.api_base": nowhere})
    with served(site, database_url, assistant=Waiting()) as base:
        async with httpx2.AsyncClient(base_url=base, trust_env=False) as door:
            need = (await door.get("/health/ready")).json()["needs"]
        async with client(site, base, "rita", "macro:reader") as rita:
            with pytest.raises(httpx2.ReadTimeout):
                await rita.post("/api/chat", json={"message": "hello"}, timeout=4)
    ready = {each["name"]: each["ready"] for each in need if each["name"].startswith("model ")}
    assert sorted(ready) == [f"model {MODEL} (1 of 2)", f"model {MODEL} (2 of 2)"]
    assert sorted(ready.values()) == [False, True]


async def test_work_that_waits_for_a_model_makes_it_unready(
    door: httpx2.AsyncClient, model: ModelServer, database: Database
) -> None:
    """An engine that is dead behind an ingress that lists its models all the same."""
    await park(database, f"model {MODEL} at {model.url}/llm/v1", 3)
    await park(database, "a release that knows its graph")  # no outage: the site is well
    needs = await until(door, {**ALL, f"model {MODEL}": False})
    need = needs[f"model {MODEL}"]
    assert (need["reason"], need["since"]) == ("3 workflows wait for it", "2026-11-21T12:03:04Z")


async def test_what_a_batch_that_was_cut_short_left_behind_makes_no_model_unready(
    door: httpx2.AsyncClient, model: ModelServer, database: Database
) -> None:
    """Nobody tries that again, so it would say so for ever."""
    await park(database, f"model {MODEL} at {model.url}/llm/v1", 3)
    await hold_all(database, "1 hour")
    await until(door, {**ALL, f"model {MODEL}": False})
    await hold_all(database, "-1 second")
    await until(door, ALL)


async def test_what_is_due_to_be_tried_again_says_nothing_of_its_model(
    door: httpx2.AsyncClient, model: ModelServer, database: Database
) -> None:
    await park(database, f"model {MODEL} at {model.url}/llm/v1", due="1 hour")
    await until(door, {**ALL, f"model {MODEL}": False})
    async with database.connection() as connection:
        await connection.execute("UPDATE workflows SET not_before = now()")
    await until(door, ALL)


async def test_people_are_answered_while_work_is_still_parked_for_a_model_that_is_back(
    config: Config, database_url: str, database: Database, cluster: Cluster, model: ModelServer, runner: None
) -> None:
    await park(database, f"model {MODEL} at {model.url}/llm/v1")
    with served(config, database_url, assistant=Waiting(), probes=cluster.probes) as base:
        async with client(config, base, "rita", "macro:reader") as rita:
            assert (await rita.get("/health/ready")).status_code == 503
            with pytest.raises(httpx2.ReadTimeout):
                await rita.post("/api/chat", json={"message": "hello"}, timeout=5)
            # It was waited for, and not for want of a look.
            model.kill()
            refused = await rita.post("/api/chat", json={"message": "hello"})
    assert (refused.status_code, refused.json()["detail"].startswith(f"The model {MODEL}")) == (503, True)


async def test_nobody_learns_secrets_or_addresses_from_it(
    configure: Configure, database_url: str, database: Database
) -> None:
    config = configure({"chat.assistant_llm.api_base": URL, "chat.assistant_llm.api_key": "hidden-key"})
    await park(database, f"model {MODEL} at http://models.internal:8000/llm/v1")
    with served(config, database_url) as base:
        answer = await asyncio.to_thread(httpx2.get, f"{base}/health/ready", trust_env=False)
    assert answer.status_code == 503
    for secret in ("secret", "hidden-key", "models.internal", "8000", "127.0.0.1"):
        assert secret not in answer.text


async def test_status_says_what_work_waits_for(
    configure: Configure, database_url: str, database: Database
) -> None:
    await park(database, "model X at http://h/v1", 3)
    await park(database, "agent writer\x1b[2J")
    found = site_status.Status.model_validate(
        await asyncio.to_thread(site_status._database, configure({"database.url": database_url}))
    )
    assert [site_status.waiting(parked) for parked in found.parked] == [
        "1 workflow waits for agent writer since 2026-11-21 12:03:04 UTC",
        "3 workflows wait for model X at http://h/v1 since 2026-11-21 12:03:04 UTC",
    ]


class Away:
    """An assistant whose model is away, with words said before it or without."""

    async def answer(self, turn: Turn) -> AsyncGenerator[Piece, None]:
        """The outage, as an agent's breaker tells it."""
        yield Routed(agent_type="main_chat", intent="general", topic=None, reason="scripted")
        if turn.message == "agent":
            raise AgentDied("the agent writer can't be reached: ask again", waits_for="agent writer")
        if turn.message == "late":
            yield Said(text="So far")
        raise ModelUnavailable(
            f"main_chat: model tiny at {URL}: \x1b[31mError\x1b[0m\n  a trace",
            waits_for=f"model tiny at {URL}",
            retry_after_seconds=6.2,
            away_since="2026-11-21T12:03:04+00:00",
        )


TOLD = "The model tiny is away since 12:03 UTC; try again in 7 s."


async def test_people_are_told_of_an_outage_at_once_and_when_to_try_again(
    config: Config, database_url: str
) -> None:
    with served(config, database_url, assistant=Away()) as base:
        async with client(config, base, "rita", "macro:reader") as rita:
            answer = await rita.post("/api/chat", json={"message": "hello"})
            agent = await rita.post("/api/chat", json={"message": "agent"})
            events = await told(rita, message="late")
        async with openai_client(base, rita.headers["Authorization"].removeprefix("Bearer ")) as door:
            with pytest.raises(openai.InternalServerError) as refused:
                await door.chat.completions.create(
                    model="signoff", messages=[{"role": "user", "content": "hello"}]
                )
    assert (answer.status_code, answer.headers["retry-after"], answer.json()["detail"]) == (503, "7", TOLD)
    assert answer.json()["retry_after_seconds"] == 6.2
    assert agent.json()["detail"] == "The agent writer is away; try again in 5 s."
    assert (agent.status_code, agent.headers["retry-after"]) == (503, "5")
    name, problem = events[-1]
    assert (name, problem["status"], problem["detail"], problem["retry_after_seconds"]) == (
        "error",
        503,
        TOLD,
        6.2,
    )
    assert refused.value.response.headers["retry-after"] == "7"
    assert (refused.value.status_code, refused.value.code) == (503, "model_unavailable")
    for text in (answer.text, agent.text, json.dumps(events), refused.value.response.text):
        assert "internal" not in text.replace("internal_server", "")
        assert "secret" not in text


class Waiting:
    """An assistant that waits for a model that never answers."""

    def __init__(self) -> None:
        self.left = asyncio.Event()

    async def answer(self, turn: Turn) -> AsyncGenerator[Piece, None]:
        """Routed, and nothing more."""
        yield Routed(agent_type="main_chat", intent="general", topic=None, reason="scripted")
        await asyncio.Event().wait()
        yield Done(response="", agent_type="main_chat", topic=None, status="completed")


async def test_nobody_waits_while_serve_starts_a_replica(
    config: Config, database_url: str, cluster: Cluster, runner: None
) -> None:
    """Serve holds requests back then: the agent hears nothing until its model is back."""
    cluster.running = {"embeddings": 1}
    with served(config, database_url, assistant=Waiting(), probes=cluster.probes) as base:
        async with client(config, base, "rita", "macro:reader") as rita:
            async with asyncio.timeout(15):
                answer = await rita.post("/api/chat", json={"message": "hello"})
                events = await told(rita, message="hello")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json()["detail"].startswith(f"The model {MODEL} is away since ")
    assert (events[-1][0], events[-1][1]["status"]) == ("error", 503)


async def test_a_slow_answer_is_waited_for_while_the_model_is_there(
    config: Config, database_url: str, cluster: Cluster, runner: None
) -> None:
    with served(config, database_url, assistant=Waiting(), probes=cluster.probes) as base:
        async with client(config, base, "rita", "macro:reader") as rita:
            with pytest.raises(httpx2.ReadTimeout):
                await rita.post("/api/chat", json={"message": "hello"}, timeout=7)
    assert cluster.asked >= 2
