"""Deciding takes a person: a token that was made for an agent or a client does not decide."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

from cluster.cli.signoff import app
from cluster.cli.tokens import mint_token
from models.config import Config
from models.config.publishing import AuthConfig
from models.errors import ConfigInvalid
from models.store.database import Database
from serve.auth.tokens import TokenVerifier
from tests.fakes.model.model_server import ModelServer
from tests.integration.drafting.research_site import TWO_STATEMENTS, Site, configured
from tests.integration.editorial.desk import Desk
from tests.integration.rest import served
from tests.profile import write_yaml


@pytest.fixture
def config(configure: Callable[..., Config]) -> Config:
    """The configuration of the app."""
    return configure()


@pytest.fixture
def base(config: Config, database_url: str) -> Iterator[str]:
    """The base URL of the app."""
    with served(config, database_url) as url:
        yield url


async def test_a_token_for_an_agent_reads_and_asks_but_does_not_decide(
    desk: Desk, config: Config, base: str
) -> None:
    number = await desk.with_editor()
    await desk.call(await desk.person("eve", "macro:editor"), "publish_article", article_id=number)
    approval = await desk.approval(number)
    wish = {"decision": "approve", "digest": approval.digest}
    paths = (
        (f"/api/approvals/{approval.id}/decision", wish),
        (f"/api/approvals/{number}", {"approved": True}),
    )

    def minted(decides: bool, scope: str = "macro:editor") -> dict[str, str]:
        token = mint_token(config.auth, user="bob", scopes=[scope], now=datetime.now(UTC), decides=decides)
        return {"Authorization": f"Bearer {token}"}

    async with httpx2.AsyncClient(base_url=base, trust_env=False) as api:
        assert (await api.get(f"/api/approvals/{approval.id}", headers=minted(False))).status_code == 200
        assert (await api.get("/api/me", headers=minted(False))).json()["decides"] is False
        for path, body in paths:
            refused = await api.post(path, json=body, headers=minted(False))
            assert (refused.status_code, "deciding takes a person" in refused.text) == (403, True)
            # Permission comes first: who may not know of it is not told what kind of token it takes.
            absent = await api.post(path, json=body, headers=minted(False, "equity:editor"))
            assert absent.status_code == 404
        assert (await desk.approval(number)).status == "pending"
        done = await api.post(paths[0][0], json=wish, headers=minted(True))
        assert (done.status_code, done.json()["status"]) == (200, "approved")


@pytest.mark.parametrize(
    ("decide", "claims", "decides"),
    [
        ({"claim": "amr", "values": ["user", "otp"]}, {"amr": ["pwd", "otp"]}, True),
        ({"claim": "amr", "values": ["user"]}, {"amr": ["pwd"]}, False),
        ({"claim": "amr", "values": ["user"]}, {"amr": "user"}, True),
        ({"claim": "amr", "values": ["user"]}, {"amr": {"user": 1}}, False),
        ({"claim": "amr", "values": ["user"]}, {}, False),
        ({"audience": "deciding"}, {"aud": ["signoff", "deciding"]}, True),
        ({"audience": "deciding"}, {"aud": "signoff"}, False),
        ({"claim": "acr", "values": ["2"], "audience": "d"}, {"acr": "2", "aud": ["signoff", "d"]}, True),
        ({"claim": "acr", "values": ["2"], "audience": "d"}, {"acr": "2"}, False),
        ({"claim": "acr", "values": ["2"], "audience": "d"}, {"aud": ["signoff", "d"]}, False),
        ("any_token", {}, True),
    ],
)
async def test_what_a_token_to_decide_with_has(decide: Any, claims: dict[str, Any], decides: bool) -> None:
    import jwt

    secret = "s" * 40
    auth = AuthConfig.model_validate(
        {
            "issuer": "signoff", "audience": "signoff", "secret": secret, "token_minutes": 5,
            "grants_last_seconds": 60, "decide": decide,
        }
    )  # fmt: skip
    whole = {
        "iss": "signoff",
        "aud": "signoff",
        "sub": "ann",
        "exp": datetime.now(UTC).timestamp() + 300,
        **claims,
    }
    identity = await TokenVerifier(auth).verify(jwt.encode(whole, secret, "HS256"))
    assert identity.decides is decides
    minted = mint_token(auth, user="ann", scopes=["macro:editor"], now=datetime.now(UTC), decides=True)
    assert (await TokenVerifier(auth).verify(minted)).decides is True
    plain = mint_token(auth, user="ann", scopes=["macro:editor"], now=datetime.now(UTC))
    assert (await TokenVerifier(auth).verify(plain)).decides is (decide == "any_token")


def test_the_site_s_own_names_are_not_minted(config: Config) -> None:
    with pytest.raises(ConfigInvalid, match="the site itself uses"):
        mint_token(config.auth, user="edit_articles", scopes=["global:admin"], now=datetime.now(UTC))


async def test_signoff_approvals_does_not_stop_the_research_of_who_types_it(
    database: Database, database_url: str, configure: Callable[..., Config], tmp_path: Path
) -> None:
    """The whole way: a research is begun over HTTP, its analyst looks into her inbox, and it goes on."""
    with ModelServer() as model:
        model.script(TWO_STATEMENTS)
        config = configure(configured(model.base_url))
        site = Site(Desk(database, config))
        raw = yaml.safe_load((tmp_path / "config.yaml").read_text())
        with served(config, database_url) as url:
            raw["http"]["port"] = int(url.rpartition(":")[2])
            write_yaml(tmp_path / "config.yaml", raw)
            token = mint_token(config.auth, user="ann", scopes=["macro:analyst"], now=datetime.now(UTC))
            async with httpx2.AsyncClient(
                base_url=url, headers={"Authorization": f"Bearer {token}"}, trust_env=False
            ) as ann:
                body = {"topic": "macro", "query": "What did the bank decide?"}
                begun = (await ann.post("/api/tools/research/article", json=body)).json()
            looked: Result = await asyncio.to_thread(
                CliRunner().invoke,
                app,
                ["approvals", "--user", "ann", "--config", str(tmp_path / "config.yaml")],
            )
            assert (looked.exit_code, looked.stdout) == (0, "nothing waits for a decision\n"), looked.output
            async with site.running():
                assert (await site.done(begun["task_id"]))["status"] == "completed"
