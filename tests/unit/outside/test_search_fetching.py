"""Fetching through the guard: redirects, packed bodies, JSON, and keys that nobody else gets to know."""

import gzip
import logging
import ssl
from pathlib import Path

import pytest
from pydantic import BaseModel

from actors.platform.web import fetching
from actors.platform.web.fetching import fetch, read_json
from models.errors import AddressRefused, ProviderFailed
from tests.fakes.outside.search_providers import Reply, SearchServer, json_reply, redirect
from tests.unit.outside.certificates import certificate
from tests.unit.outside.fetching_site import CONFIG, SECRET, failure, get, make_other, make_server
from tests.unit.outside.search_config import configured

__all__ = ["make_other", "make_server"]  # the fixtures


class Answer(BaseModel):
    value: int


async def test_a_body_comes_whole_and_its_url_has_no_parameters(server: SearchServer) -> None:
    server.put("/data", b"12345", "text/plain")
    got = await get(server.url + "/data?v=1#top", params={"key": SECRET, "q": "a b"})
    assert (got.status, got.body, got.headers["content-type"]) == (200, b"12345", "text/plain")
    assert got.url == server.url + "/data"
    assert server.asked[0].query == {"v": "1", "key": SECRET, "q": "a b"}


async def test_a_url_without_parameters_is_told_as_it_is(server: SearchServer) -> None:
    server.put("/data", b"1")
    assert (await get(server.url + "/data?v=1#top")).url == server.url + "/data?v=1"


async def test_the_guard_refuses_what_is_not_allowed(server: SearchServer) -> None:
    told = await failure(server.url, AddressRefused, config=configured(allow_internal=()))
    assert "outgoing.allow_internal" in told
    assert server.asked == []


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://127.0.0.2:1/",
        "http://[::1]/",
        "file:///etc/passwd",
        "http://user:word@example.org/",
        "gopher://example.org/",
    ],
)
async def test_a_redirect_to_where_we_may_not_go_is_refused(server: SearchServer, target: str) -> None:
    config = configured(allow_internal=("127.0.0.1/32",))
    server.script(redirect(target))
    await failure(server.url + "/data", AddressRefused, config=config, params={"key": SECRET})
    assert len(server.asked) == 1


async def test_a_redirect_to_loopback_is_refused_where_only_the_first_host_is_allowed(
    server: SearchServer, other: SearchServer
) -> None:
    # The name is allowed, the number that it redirects to is not.
    config = configured(allow_internal=("localhost",))
    server.script(redirect(other.url + "/inside"))
    await failure(f"http://localhost:{server.port}/", AddressRefused, config=config)
    assert other.asked == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_followed(server: SearchServer, status: int) -> None:
    server.put("/there", b"found")
    server.script(redirect("/there#part", status))
    got = await get(server.url + "/here")
    assert (got.body, got.url) == (b"found", server.url + "/there")


async def test_five_redirects_are_followed_and_no_more(server: SearchServer) -> None:
    server.put("/end", b"end")
    server.script(*[redirect("/next")] * 4, redirect("/end"))
    assert (await get(server.url)).body == b"end"
    server.script(*[redirect("/next")] * 6)
    assert "redirects more than 5 times" in await failure(server.url)


async def test_only_neutral_headers_go_to_another_host(server: SearchServer, other: SearchServer) -> None:
    other.put("/there", b"found")
    server.script(redirect(other.url + "/there"))
    sent = {"Authorization": f"Bearer {SECRET}", "X-Api-Key": SECRET, "X-Tenant": "t", "Accept": "text/csv"}
    await get(server.url, headers=sent)
    first, second = server.asked[0].headers, other.asked[0].headers
    assert (first["x-api-key"], first["x-tenant"]) == (SECRET, "t")
    assert (second["accept"], second["host"]) == ("text/csv", f"127.0.0.1:{other.port}")
    assert not {"authorization", "x-api-key", "x-tenant"} & set(second)


async def test_headers_do_not_come_back_after_another_host(server: SearchServer, other: SearchServer) -> None:
    server.put("/end", b"end")
    server.script(redirect(other.url))
    other.script(redirect(server.url + "/end"))
    await get(server.url, headers={"X-Api-Key": SECRET})
    assert "x-api-key" not in server.asked[1].headers


async def test_headers_and_parameters_stay_with_the_same_host(server: SearchServer) -> None:
    server.put("/there", b"found")
    server.script(redirect(f"/there?key={SECRET}"))
    got = await get(server.url, headers={"X-Api-Key": SECRET}, params={"key": SECRET})
    assert server.asked[1].headers["x-api-key"] == SECRET
    assert got.url == server.url + "/there"


@pytest.mark.parametrize("spelt", [SECRET, "s3cret%2Bkey%2Fwith%3Dsigns", "s3cret%2Bkey/with%3Dsigns"])
async def test_a_key_is_not_carried_to_another_host(
    server: SearchServer, other: SearchServer, spelt: str
) -> None:
    server.script(redirect(f"{other.url}/there?key={spelt}"))
    told = await failure(server.url, params={"key": SECRET})
    assert "redirects with the key to another host" in told
    assert other.asked == []


async def test_https_is_not_left_for_http(
    server: SearchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind, trusting = certificate(tmp_path, "localhost")
    monkeypatch.setattr(fetching, "_trusted", lambda: trusting)
    config = configured(allow_internal=("127.0.0.1/32", "localhost"))
    with SearchServer(behind) as secure:
        secure.put("/data", b"ok")
        assert (await get(f"https://localhost:{secure.port}/data", config)).body == b"ok"
        secure.script(redirect(server.url + "/data"))
        told = await failure(f"https://localhost:{secure.port}/", config=config)
    assert "from https to http" in told
    assert server.asked == []


async def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    behind, _ = certificate(tmp_path, "localhost")
    with SearchServer(behind) as secure:
        secure.put("/data", b"ok")
        told = await failure(
            f"https://localhost:{secure.port}/data", config=configured(allow_internal=("localhost",))
        )
    assert "certificate" in told.lower()
    assert isinstance(fetching._trusted(), ssl.SSLContext)


async def test_a_packed_body_is_unpacked(server: SearchServer) -> None:
    server.script(Reply(200, gzip.compress(b"hello" * 1000), {"Content-Encoding": "gzip"}))
    assert (await get(server.url)).body == b"hello" * 1000
    assert server.asked[0].headers["accept-encoding"] == "gzip"


async def test_the_key_is_in_no_log(server: SearchServer, caplog: pytest.LogCaptureFixture) -> None:
    server.put("/data", b"1")
    with caplog.at_level(logging.INFO):
        await get(server.url + "/data", params={"api_key": SECRET}, headers={"X-Api-Key": SECRET})
        server.script(redirect("/data?api_key=s3cret"))
        await get(server.url + "/data", params={"api_key": SECRET})
    assert f"{server.url}/data" in caplog.text, "httpx2 logs requests"
    assert "s3cret" not in caplog.text


async def test_accepted_statuses_come_back(server: SearchServer) -> None:
    server.script(Reply(400, b"why"))
    got = await get(server.url, accept_statuses=(400, 404))
    assert (got.status, got.body) == (400, b"why")


async def test_json_is_read_as_a_record(server: SearchServer) -> None:
    server.script(json_reply({"value": 3, "more": 1}))
    got = read_json(await fetch(server.url, config=CONFIG, provider="acme"), Answer, "acme")
    assert got.value == 3


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"<html>Sign in</html>", {"Content-Type": "text/html"}),
        json_reply({"value": "many"}),
        json_reply([]),
        Reply(200, b"[" * 50_000),
        Reply(200, b'{"value": 1'),
        Reply(200, b"\xff\xfe"),
        Reply(204, b""),
    ],
)
async def test_what_is_not_its_json_is_an_error(server: SearchServer, reply: Reply) -> None:
    server.script(reply)
    with pytest.raises(ProviderFailed, match=r"acme: the answer .* is not JSON in its format"):
        read_json(await fetch(server.url, config=CONFIG, provider="acme"), Answer, "acme")
