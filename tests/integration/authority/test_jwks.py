"""Keys: where those that check tokens come from, which of them are used, and when they are read again."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from models.errors import KeysUnavailable, Unauthenticated
from serve.auth.tokens import TokenVerifier
from tests.fakes.outside.issuer import ALGORITHMS, KeyServer, auth, bearer, good_keys, jwk, key_file, sign
from tests.integration.authority.identity import client_of, identity_app


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_a_token_without_kid_is_taken_where_one_key_can_be_meant(
    tmp_path: Path, algorithm: str
) -> None:
    token = sign("good", algorithm, {"kid": None})
    verifier = TokenVerifier(auth(file=key_file(tmp_path, *good_keys())))
    assert (await verifier.verify(token)).subject == "ann"
    key_file(tmp_path, *good_keys(), jwk("other", algorithm))
    with pytest.raises(Unauthenticated, match="several keys fit"):
        await verifier.verify(token)
    assert (await verifier.verify(sign("other", algorithm))).subject == "ann"


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("good", {"use": "enc"}),
        ("good", {"alg": "RS512"}),
        ("good", {"alg": "RSA-OAEP"}),
        ("good", {"alg": "HS256"}),
        ("good", {"key_ops": ["sign"]}),
        ("good", {"kty": "EC", "crv": "P-256"}),
        ("good", {"kty": ["RSA"]}),
        ("good", {"kid": 7}),
        ("good", {"n": "!"}),
        ("good", {"n": 7}),
        ("good", {"e": None}),
        ("weak", {}),
    ],
)
async def test_a_key_that_is_not_for_this_is_not_used(
    tmp_path: Path, name: str, changes: dict[str, Any]
) -> None:
    path = key_file(tmp_path, jwk(name, "RS256", **changes), jwk("good", "ES256"))
    verifier = TokenVerifier(auth(file=path))
    with pytest.raises(Unauthenticated, match="no key for RS256"):
        await verifier.verify(sign(name, "RS256"))
    assert (await verifier.verify(sign("good", "ES256"))).subject == "ann"


async def test_kinds_of_keys_that_are_taken(tmp_path: Path) -> None:
    bare = jwk("good", "RS256", alg=None, use=None, key_ops=["verify"])
    members = (bare, jwk("good", "ES256", private=True), jwk("long", "EdDSA"), jwk("long", "ES256", alg=None))
    verifier = TokenVerifier(auth(file=key_file(tmp_path, *members)))
    for name, algorithm in (("good", "RS256"), ("good", "ES256"), ("long", "EdDSA")):
        assert (await verifier.verify(sign(name, algorithm))).subject == "ann"


async def test_a_changed_file_is_read_again_and_a_broken_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    verifier = TokenVerifier(auth(file=path))
    with pytest.raises(KeysUnavailable, match=r"auth\.jwks\.file .*No such file"):
        await verifier.verify(sign("good", "ES256"))
    path.write_text('{"keys": 7}')
    with pytest.raises(KeysUnavailable, match="not a JSON Web Key Set"):
        await verifier.verify(sign("good", "ES256"))
    key_file(tmp_path, jwk("good", "ES256"))
    assert (await verifier.verify(sign("good", "ES256"))).subject == "ann"
    for spoil in (lambda: path.write_text("{"), path.unlink):
        spoil()
        assert (await verifier.verify(sign("good", "ES256"))).subject == "ann"
    key_file(tmp_path, jwk("next", "ES256"))
    assert (await verifier.verify(sign("next", "ES256"))).subject == "ann"
    with pytest.raises(Unauthenticated, match="no key for ES256 has its kid"):
        await verifier.verify(sign("good", "ES256"))


class Clock:
    """Time that passes when the test says so."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


async def test_keys_from_a_url_are_kept_and_rotated(database_url: str) -> None:
    with KeyServer(jwk("old", "RS256")) as server:
        clock = Clock()
        verifier = TokenVerifier(auth(url=server.url), clock=clock)
        app = identity_app(auth(url=server.url), database_url, verifier=verifier)
        async with client_of(app) as client:

            async def status(name: str) -> int:
                return (await client.get("/api/me", headers=bearer(sign(name, "RS256")))).status_code

            assert [await status("old"), await status("old"), server.requests] == [200, 200, 1]
            server.members = (jwk("old", "RS256"), jwk("next", "RS256"))
            # An unknown key: they are read again at once, and then not for ten seconds.
            assert [await status("next"), server.requests] == [200, 2]
            assert [await status("evil"), await status("evil"), server.requests] == [401, 401, 2]
            clock.now += 10
            assert [await status("evil"), await status("evil"), server.requests] == [401, 401, 3]
            # A key that was taken out is known until the cache is over.
            server.members = (jwk("next", "RS256"),)
            assert [await status("old"), server.requests] == [200, 3]
            clock.now += 300
            assert [await status("old"), await status("next"), server.requests] == [401, 200, 5]


async def test_a_fetch_that_fails_keeps_the_keys_and_is_not_repeated_at_once() -> None:
    with KeyServer(jwk("old", "ES256")) as server:
        clock = Clock()
        server.status = 500
        verifier = TokenVerifier(auth(url=server.url), clock=clock)
        for _ in range(2):
            with pytest.raises(KeysUnavailable, match=r"auth\.jwks\.url .*status 500") as caught:
                await verifier.verify(sign("old", "ES256"))
        assert (caught.value.http_status, server.requests) == (503, 1)
        clock.now += 10
        server.status = 200
        assert (await verifier.verify(sign("old", "ES256"))).subject == "ann"
        clock.now += 300
        server.status = 302
        for _ in range(2):
            assert (await verifier.verify(sign("old", "ES256"))).subject == "ann"
        assert server.requests == 3
        clock.now += 10
        server.status = 200
        server.members = (jwk("next", "ES256"),)
        assert (await verifier.verify(sign("next", "ES256"))).subject == "ann"
    clock.now += 300
    assert (await verifier.verify(sign("next", "ES256"))).subject == "ann"  # the server is gone


async def test_many_who_ask_at_once_fetch_the_keys_once() -> None:
    with KeyServer(jwk("good", "ES256")) as server:
        server.held.clear()
        verifier = TokenVerifier(auth(url=server.url), clock=Clock())
        asked = [asyncio.create_task(verifier.verify(sign("good", "ES256"))) for _ in range(20)]
        await asyncio.to_thread(server.until, 1)
        server.held.set()
        assert {identity.subject for identity in await asyncio.gather(*asked)} == {"ann"}
        assert server.requests == 1


async def test_while_keys_are_renewed_the_known_ones_are_answered_with() -> None:
    with KeyServer(jwk("good", "ES256")) as server:
        clock = Clock()
        verifier = TokenVerifier(auth(url=server.url), clock=clock)
        await verifier.verify(sign("good", "ES256"))
        clock.now += 300
        server.held.clear()
        first = asyncio.create_task(verifier.verify(sign("good", "ES256")))
        await asyncio.to_thread(server.until, 2)
        async with asyncio.timeout(4):  # less than the first will wait for its answer
            assert (await verifier.verify(sign("good", "ES256"))).subject == "ann"
        assert not first.done()
        server.held.set()
        assert (await first).subject == "ann"
