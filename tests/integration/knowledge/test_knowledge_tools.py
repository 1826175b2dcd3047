"""The tools of knowledge: what is saved is found with its span, and belongs to its project alone."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx2
import pytest

from actors.platform import systems
from actors.platform.system import load_named
from models.config import Config
from models.store.database import Database
from tests.fakes.model.model_server import ModelServer, Rule
from tests.integration.rest import client, served

# "🏭" is one character and two UTF-16 units.
TEXT = (
    "Młyn nad Wisłą 🏭 został zbudowany w 1871 roku. Kieruje nim Jan Nowak, jan.nowak@example.com. "
    "Gdy woda w rzece jest wysoka, koło obraca się dzień i noc, a mąka z młyna trafia do piekarni w mieście. "
    "The mill turns when the water is high. The mill turns at night."
)
SAVE = "/api/tools/projects/{project}/save"


class Agents:
    """The agents of knowledge in this process."""

    def __init__(self, config: Config, database_url: str) -> None:
        self._config, self.database_url = config, database_url
        self._made: dict[str, Any] = {}

    def agent(self, role: str, *, shard: str | None = None) -> Any:
        """Each is made when it is first asked."""
        if role not in self._made:
            path, arguments = systems.roles()[role]
            self._made[role] = load_named(path)(**arguments(self._config, self))
        return self._made[role]


@pytest.fixture
def config(configure: Callable[..., Config], model: ModelServer) -> Config:
    """Embeddings are the scripted model's."""
    return configure({"embedding.api_base": model.base_url, "embedding.api_key": "x"})


@pytest.fixture
def base(config: Config, database_url: str) -> Iterator[str]:
    """The base URL of the app."""
    with served(config, database_url, agents=Agents(config, database_url)) as url:
        yield url


@pytest.fixture
async def ann(config: Config, base: str) -> AsyncIterator[httpx2.AsyncClient]:
    """An analyst of macro."""
    async with client(config, base, "ann", "macro:analyst") as made:
        yield made


@pytest.fixture
async def project(ann: httpx2.AsyncClient) -> int:
    """A project on macro."""
    answer = await ann.post("/api/tools/projects", json={"topic": "macro", "name": "Mills"})
    return int(answer.json()["project"]["id"])


async def save(ann: httpx2.AsyncClient, project: int, kind: str, **data: Any) -> httpx2.Response:
    return await ann.post(SAVE.format(project=project), json={"entity_type": kind, "data": data})


async def ask(ann: httpx2.AsyncClient, project: int, query: str, **more: Any) -> dict[str, Any]:
    answer = await ann.post(f"/api/tools/projects/{project}/query", json={"query": query, **more})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def test_a_saved_document_is_found_at_once_with_exact_spans_and_no_personal_data(
    ann: httpx2.AsyncClient, project: int
) -> None:
    saved = (await save(ann, project, "document", text=TEXT, title="Młyny", date="2026-01-02")).json()
    assert (saved["type"], saved["status"], saved["note"]) == ("document", "saved", None)
    # The same once more is the same source.
    assert (await save(ann, project, "document", text=TEXT)).json()["id"] == saved["id"]
    read = (await ann.get(f"/api/tools/projects/{project}/sources/{saved['id']}")).json()
    text = read["source"]["text"]
    assert "[email]" in text
    assert "jan.nowak" not in text
    assert read["source"]["language"] == "pl"
    found = await ask(ann, project, "kiedy młyn nad Wisłą został zbudowany")
    [result] = found["results"]
    assert (found["note"], result["source_id"]) == (None, saved["id"])
    assert text[result["start"] : result["end"]] == result["text"]
    assert result["similarity_score"] is not None


async def test_points_rest_on_what_the_source_says_word_for_word(
    ann: httpx2.AsyncClient, project: int
) -> None:
    source = (await save(ann, project, "document", text=TEXT)).json()["id"]
    quote = "został zbudowany w 1871 roku"
    point = {"source_id": source, "quote": quote, "statement": "It was built in 1871."}
    made = (await save(ann, project, "knowledge_point", **point)).json()
    assert (await save(ann, project, "knowledge_point", **point)).json()["id"] == made["id"]
    label = {"source_id": source, "quote": "Młyn nad Wisłą", "label": "Mills"}
    assert (await save(ann, project, "category", **label)).status_code == 200
    [result] = (await ask(ann, project, "zbudowany 1871"))["results"]
    assert {(p["said"], p["quote"], p["saved_by"]) for p in result["points"]} == {
        ("It was built in 1871.", quote, "ann"),
        ("Mills", "Młyn nad Wisłą", "ann"),
    }
    text = (await ann.get(f"/api/tools/projects/{project}/sources/{source}")).json()["source"]["text"]
    assert all(text[p["start"] : p["end"]] == p["quote"] for p in result["points"])
    second = text.rindex("The mill turns")
    for data, status, told in (
        ({"quote": "zbudowany w 1872 roku"}, 422, "does not say that"),
        ({"quote": "The mill turns"}, 422, "data.start"),
        ({"quote": "The mill turns", "start": second}, 200, ""),
        ({"quote": "The mill turns", "start": second + 1}, 422, f"at character {second + 1}"),
        ({"quote": quote, "colour": "red"}, 422, "data.colour"),
        ({"quote": quote, "source_id": 9999}, 404, "no source 9999"),
        ({"quote": quote, "statement": " "}, 422, "data.statement"),
    ):
        answer = await save(ann, project, "knowledge_point", **(point | data))
        assert (data, answer.status_code) == (data, status)
        assert told in answer.text


async def test_another_topic_s_person_is_told_of_nothing(
    ann: httpx2.AsyncClient, config: Config, base: str, project: int, database: Database
) -> None:
    source = (await save(ann, project, "document", text=TEXT)).json()["id"]
    tools = [tool for tool in systems.tools() if tool.route and "{project_id}" in tool.route.path]
    assert len(tools) >= 7
    everything = {
        "query": "młyn",
        "entity_type": "document",
        "data": {"text": "x"},
    }
    async with (
        client(config, base, "eli", "equity:analyst") as eli,
        client(config, base, "root", "global:admin") as root,
    ):
        for tool in tools:
            assert tool.route is not None
            path = tool.route.path.format(
                project_id=project, source_id=source, entity_id=1, merge_id=1, tree_id=1
            )
            fields = tool.input.model_fields.keys()
            body = {name: value for name, value in everything.items() if name in fields} or {}
            more = {"json": body} if tool.route.method == "POST" else {}
            hidden = await eli.request(tool.route.method, path, **more)
            absent = await ann.request(tool.route.method, path.replace(f"/{project}/", "/999/", 1), **more)
            assert (tool.name, hidden.status_code) == (tool.name, 404)
            said = (
                hidden.json()["detail"].replace(str(project), "N"),
                absent.json()["detail"].replace("999", "N"),
            )
            assert said[0] == said[1]
        assert (await eli.get("/api/tools/projects")).json()["projects"] == []
        assert (await root.get(f"/api/tools/projects/{project}/sources/{source}")).status_code == 200
        other = (await eli.post("/api/tools/projects", json={"topic": "equity", "name": "Mills"})).json()
        # A source of one project is none of another.
        number = other["project"]["id"]
        assert number != project
        assert (await eli.get(f"/api/tools/projects/{number}/sources/{source}")).status_code == 404
        assert (await ask(eli, number, "młyn"))["results"] == []


async def test_while_the_index_is_away_what_is_saved_is_kept_and_words_still_count(
    ann: httpx2.AsyncClient, project: int, model: ModelServer
) -> None:
    await save(ann, project, "document", text=TEXT)
    model.script(Rule(kind="embeddings", status=503))
    saved = (await save(ann, project, "document", text="Wheels turn.")).json()
    assert "index_knowledge_base" in saved["note"]
    found = await ask(ann, project, "mill water")
    assert "words only" in found["note"]
    assert "1 of the project's sources is not searched yet" in found["note"]
    assert len(found["results"]) == 1
