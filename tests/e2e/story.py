"""The story of a publication: draft with resources, review, gate, webhook, reader."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
from standardwebhooks.webhooks import Webhook

from actors.platform import systems
from actors.platform.systems import load
from cluster.cli.tokens import mint_token
from tests.e2e.cluster import Cluster
from tests.fakes.outside.webhook_receiver import Got, WebhookReceiver

PEOPLE = {
    "ann": ("macro:analyst",),
    "eve": ("macro:editor",),
    "bob": ("macro:editor",),
    "rita": ("macro:reader",),
    "root": ("global:admin",),
}
# What a client sees while a process is being replaced, or the database is away.
_PASSING = (httpx2.TransportError, httpx2.TransportError)


class Refused(Exception):
    """A call was answered with a problem."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status


class People:
    """HTTP clients of everyone, with their tokens."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        auth, now = load(cluster.config).auth, datetime.now(UTC)
        self.tokens = {
            who: mint_token(auth, user=who, scopes=scopes, now=now, decides=True)
            for who, scopes in PEOPLE.items()
        }

    async def request(self, who: str, method: str, path: str, body: Any = None) -> Any:
        """One request, repeated while nobody is there to answer it."""
        async with asyncio.timeout(120):
            while True:
                try:
                    headers = {"Authorization": f"Bearer {self.tokens[who]}"}
                    async with httpx2.AsyncClient(trust_env=False, timeout=30) as client:
                        url = f"{self.cluster.http}{path}"
                        answer = await client.request(method, url, headers=headers, json=body)
                    if answer.status_code < 500:
                        break
                except _PASSING:
                    pass
                await asyncio.sleep(0.2)  # asked again over HTTP, as a client does
        if answer.status_code >= 400:
            raise Refused(answer.status_code, answer.json()["detail"])
        return answer.json()


class Rest:
    """Tools over REST."""

    def __init__(self, people: People) -> None:
        self._people = people

    async def call(self, who: str, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool."""
        [route] = [each.route for each in systems.tools() if each.name == tool]
        assert route is not None
        path = route.path
        for name, field in route.in_path:
            path = path.replace(f"{{{name}}}", str(arguments.pop(field)))
        body = arguments if route.method == "POST" else None
        answer: dict[str, Any] = await self._people.request(who, route.method, path, body)
        return answer


class Story:
    """The publication of one article. `disturb` is called between the steps, with the next one's name."""

    def __init__(
        self,
        people: People,
        door: Rest,
        receiver: WebhookReceiver,
        headline: str,
        disturb: Callable[[str], Awaitable[None]],
    ) -> None:
        self._people = people
        self._door = door
        self._receiver = receiver
        self._headline = headline
        self._disturb = disturb
        self._secrets: dict[str, str] = {}

    async def walk(self) -> int:
        """Walk it from the draft to the reader; the article's id."""
        call = self._door.call
        await self._subscribe()
        await self._disturb("draft")
        made = await call("ann", "create_draft_article", topic="macro", headline=self._headline)
        article = int(made["article_id"])
        await self._disturb("resources")
        text = await call(
            "ann", "create_text_resource", name="Statement", content="They held.", article_id=article
        )
        await call(
            "ann",
            "create_table_resource",
            name="Rates",
            columns=["month", "rate"],
            rows=[["2026-05", 4.25], ["2026-06", 4.25]],
            article_id=article,
        )
        await call("ann", "write_article_content", article_id=article, content="First text.")
        await self._disturb("submit")
        await call("ann", "submit_for_review", article_id=article)
        await self._disturb("request_changes")
        await call("eve", "request_changes", article_id=article, notes="name the day")
        content = f"On 17 June the bank held its rate. {self._headline}."
        await call("ann", "write_article_content", article_id=article, content=content)
        await call("ann", "submit_for_review", article_id=article)
        await self._disturb("publish")
        asked = await call("eve", "publish_article", article_id=article, editor_notes="ready")
        assert asked["status"] == "pending_approval"
        await self._disturb("decide")
        await self._decide(article, str(asked["approval_request_id"]), content)
        await self._disturb("published")
        await self._published(article)
        [message] = await self._messages("article_published", article)
        assert json.loads(message)["approved_by"]["subject"] == "bob"
        await self._found_by_reader(article, content)
        assert text["resource_id"] in [
            resource["id"] for resource in (await self._read("rita", article))["resources"]
        ]
        return article

    async def _subscribe(self) -> None:
        for event in ("approval_required", "article_published"):
            path = f"/{event}/{abs(hash(self._headline))}"
            body = {
                "name": event, "event_type": event, "url": self._receiver.at(path), "topic": "macro",
                "max_retries": 20, "retry_delay_seconds": 0.2,
            }  # fmt: skip
            made = await self._people.request("root", "POST", "/api/webhooks", body)
            self._secrets[path] = made["secret"]

    async def _decide(self, article: int, approval: str, content: str) -> None:
        """Who asked may not, a reader finds nothing; another sees exactly the text, and approves that."""
        [message] = await self._messages("approval_required", article)
        assert json.loads(message)["callback"]["approve_url"].endswith(f"/api/approvals/{article}")
        shown = await self._people.request("bob", "GET", f"/api/approvals/{approval}")
        assert shown["content"]["article"]["content"] == content
        assert len(shown["content"]["resources"]) == 2
        decision = {"decision": "approve", "digest": shown["digest"], "notes": "good"}
        for who, refused in (("eve", "403"), ("rita", "404")):
            with pytest.raises(Refused, match=refused):
                await self._people.request(who, "POST", f"/api/approvals/{approval}/decision", decision)
        path = f"/api/approvals/{approval}/decision"
        decided = await self._people.request("bob", "POST", path, decision)
        assert decided["status"] == "approved"

    async def _published(self, article: int) -> None:
        async with asyncio.timeout(120):
            while (await self._read("eve", article))["status"] != "published":  # noqa: ASYNC110  # over HTTP
                await asyncio.sleep(0.1)  # asked again over HTTP

    async def _read(self, who: str, article: int) -> dict[str, Any]:
        read: dict[str, Any] = (await self._door.call(who, "get_article", article_id=article))["article"]
        return read

    async def _messages(self, event: str, article: int) -> list[str]:
        """The different messages about the article, each signed; one may have come several times."""
        path = f"/{event}/{abs(hash(self._headline))}"

        def about() -> list[Got]:
            return [
                got for got in self._receiver.to(path) if json.loads(got.body)["article"]["id"] == article
            ]

        await self._receiver.until(lambda: bool(about()), timeout=120)
        by_id = {}
        for got in about():
            Webhook(self._secrets[path]).verify(got.body.decode(), got.headers)
            assert json.loads(got.body)["webhook_id"] == got.headers["webhook-id"]
            by_id[got.headers["webhook-id"]] = got.body.decode()
        return list(by_id.values())

    async def _found_by_reader(self, article: int, content: str) -> None:
        """By its words at once, and by its meaning within seconds."""
        async with asyncio.timeout(60):
            while True:
                found = await self._door.call(
                    "rita", "search_articles", query="the bank held its rate in June", topic="macro", limit=50
                )
                hits = {hit["id"]: hit for hit in found["articles"]}
                assert article in hits
                if hits[article]["similarity_score"] is not None:
                    break
                await asyncio.sleep(0.2)  # until its vector is there, asked over HTTP
        assert (await self._read("rita", article))["content"] == content

    async def audit(self, article: int) -> list[tuple[str, str, str]]:
        """Who called what about the article, and what came of it, in order."""
        path = f"/api/audit?about=article:{article}&limit=500"
        calls = await self._people.request("root", "GET", path)
        writes = [
            call for call in reversed(calls) if not call["tool"].startswith(("get_", "search_", "review_"))
        ]
        return [(call["person"], call["tool"], call["status"]) for call in writes]
