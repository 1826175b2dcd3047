"""Tokens at the door: which are taken, which are refused, and where the keys to check them come from."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from fastapi import WebSocket
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from cluster.cli.tokens import mint_token
from models.errors import ConfigInvalid, Unauthenticated
from models.people.users import Identity, is_subject
from models.store.database import Database
from serve.auth.caller import Caller
from serve.auth.tokens import TokenVerifier
from tests.examples import examples
from tests.fakes.outside.issuer import (
    ALGORITHMS,
    KeyServer,
    auth,
    bearer,
    claims,
    good_keys,
    jwk,
    key_file,
    private_key,
    public_pem,
    sign,
    sign_symmetrically,
)
from tests.integration.authority.identity import client_of, identity_app

SECRET = "a secret for the tests of tokens, 32 and more"


@pytest.fixture
async def api(database_url: str, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of an app that takes a secret and a key set, in which there is a symmetric key too."""
    oct_key = {"kty": "oct", "k": "c" * 43, "kid": "oct", "alg": "HS256", "use": "sig"}
    both = auth(secret=SECRET, file=key_file(tmp_path, *good_keys(), oct_key))
    async with client_of(identity_app(both, database_url)) as client:
        yield client


@pytest.mark.parametrize("algorithm", [*ALGORITHMS, "HS256"])
async def test_a_good_token_says_who_calls(api: httpx2.AsyncClient, algorithm: str) -> None:
    more = {"name": "Ann Lee", "email": "ann@example.org", "scope": "macro:analyst global:admin openid"}
    token = (
        jwt.encode(claims(**more), SECRET, "HS256")
        if algorithm == "HS256"
        else sign("good", algorithm, **more)
    )
    answer = await api.get("/api/me", headers=bearer(token))
    assert answer.status_code == 200
    me = answer.json()
    assert (me["subject"], me["name"], me["email"]) == ("ann", "Ann Lee", "ann@example.org")
    assert (me["scopes"], me["role"]) == (["global:admin", "macro:analyst"], "admin")


@pytest.mark.parametrize("typ", ["JWT", "jwt", "at+jwt", "application/at+jwt", None])
async def test_an_access_token_says_that_it_is_one_or_nothing(
    api: httpx2.AsyncClient, typ: str | None
) -> None:
    answer = await api.get("/api/me", headers=bearer(secretly({"typ": typ})))
    assert answer.status_code == 200


def hour(hours: int) -> int:
    """So many hours from now."""
    return int((datetime.now(UTC) + timedelta(hours=hours)).timestamp())


def secretly(header: dict[str, Any] | None = None, **changes: Any) -> str:
    """A token signed with the secret."""
    return jwt.encode(claims(**changes), SECRET, "HS256", header)


def own_key(header: dict[str, Any]) -> str:
    """A token signed with a key of the attacker's own, which its header brings along or names."""
    return sign("evil", "RS256", {"kid": "evil-RS256", **header})


ATTACKS: dict[str, Callable[[], str]] = {
    "no signature": lambda: jwt.encode(claims(), None, "none"),
    "no signature, with the kid of a key": lambda: jwt.encode(claims(), None, "none", {"kid": "good-RS256"}),
    "signature cut off": lambda: sign("good", "RS256").rpartition(".")[0] + ".",
    "none in capitals": lambda: sign_symmetrically(b"", {"alg": "NONE"}),
    "no alg": lambda: sign_symmetrically(SECRET.encode(), {}),
    "alg is a list": lambda: sign_symmetrically(SECRET.encode(), {"alg": ["HS256"]}),
    "alg in small letters": lambda: sign_symmetrically(SECRET.encode(), {"alg": "hs256"}),
    "another secret": lambda: sign_symmetrically(b"x" * 40, {"alg": "HS256"}),
    "HS512": lambda: jwt.encode(claims(), SECRET * 2, "HS512"),
    "HMAC with the public key's PEM": lambda: sign_symmetrically(
        public_pem("good", "RS256").encode(), {"alg": "HS256", "kid": "good-RS256"}
    ),
    "HMAC with the public key's modulus": lambda: sign_symmetrically(
        jwk("good", "RS256")["n"].encode(), {"alg": "HS256", "kid": "good-RS256"}
    ),
    "HMAC with the set's symmetric key": lambda: sign_symmetrically(
        jwt.utils.base64url_decode("c" * 43), {"alg": "HS256", "kid": "oct"}
    ),
    "HMAC that says RS256": lambda: sign_symmetrically(
        public_pem("good", "RS256").encode(), {"alg": "RS256", "kid": "good-RS256"}
    ),
    "the secret where a key is meant": lambda: sign_symmetrically(
        SECRET.encode(), {"alg": "RS256", "kid": "good-RS256"}
    ),
    "right key, PS256": lambda: jwt.encode(
        claims(), private_key("good", "RS256"), "PS256", {"kid": "good-RS256"}
    ),
    "right key, RS512": lambda: jwt.encode(
        claims(), private_key("good", "RS256"), "RS512", {"kid": "good-RS256"}
    ),
    "ES256 under an RSA key's kid": lambda: sign("good", "ES256", {"kid": "good-RS256"}),
    "another key under a known kid": lambda: sign("evil", "RS256", {"kid": "good-RS256"}),
    "unknown kid": lambda: sign("good", "RS256", {"kid": "nobody"}),
    "empty kid": lambda: sign("good", "RS256", {"kid": ""}),
    "kid is a path": lambda: sign("good", "RS256", {"kid": "../../../../dev/null"}),
    "kid is SQL": lambda: sign("good", "RS256", {"kid": "' OR 1=1 --"}),
    "kid is a number": lambda: sign_symmetrically(SECRET.encode(), {"alg": "HS256", "kid": 7}),
    "its own key in jwk": lambda: own_key({"jwk": jwk("evil", "RS256")}),
    "its own certificate in x5c": lambda: own_key({"x5c": [public_pem("evil", "RS256")]}),
    "unknown extension": lambda: sign("good", "RS256", {"crit": ["exp"], "exp": 1}),
    "an extension that PyJWT knows": lambda: sign_symmetrically(
        SECRET.encode(), {"alg": "HS256", "crit": ["b64"], "b64": True}
    ),
    "crit that is no text": lambda: sign_symmetrically(SECRET.encode(), {"alg": "HS256", "crit": ["\ud800"]}),
    "a logout token": lambda: secretly({"typ": "logout+jwt"}),
    "an id token's sibling": lambda: secretly({"typ": "dpop+jwt"}),
    "typ is a number": lambda: sign_symmetrically(SECRET.encode(), {"alg": "HS256", "typ": 7}),
    "typ is empty": lambda: sign_symmetrically(SECRET.encode(), {"alg": "HS256", "typ": ""}),
    "a name in full-width letters": lambda: secretly(sub="\uff41nn"),
    "a name with what can't be seen": lambda: secretly(sub="ann\u3164"),
    "a name written backwards": lambda: secretly(sub="\u202eann"),
    "payload elsewhere": lambda: sign_symmetrically(
        SECRET.encode(), {"alg": "HS256", "crit": ["b64"], "b64": False}, b""
    ),
    "another issuer": lambda: secretly(iss="https://keycloak.internal/realms/other"),
    "no issuer": lambda: secretly(iss=None),
    "another audience": lambda: secretly(aud="elsewhere"),
    "other audiences": lambda: secretly(aud=["elsewhere", "signoff2"]),
    "no audience": lambda: secretly(aud=None),
    "over": lambda: secretly(exp=hour(-1)),
    "over, of a key": lambda: sign("good", "ES256", exp=hour(-1)),
    "no end": lambda: secretly(exp=None),
    "an end that is a text": lambda: secretly(exp=str(hour(1))),
    "an end beyond time": lambda: secretly(exp=10**30),
    "an end at infinity": lambda: secretly(exp=float("inf")),
    "not yet": lambda: secretly(nbf=hour(1)),
    "issued tomorrow": lambda: secretly(iat=hour(24)),
    "issued before time": lambda: secretly(iat=-(10**30)),
    "nobody": lambda: secretly(sub=None),
    "a blank": lambda: secretly(sub=" "),
    "a number": lambda: sign_symmetrically(
        SECRET.encode(), {"alg": "HS256"}, json.dumps({**claims(), "sub": 7}).encode()
    ),
    "a space at the end": lambda: secretly(sub="ann "),
    "what can't be seen": lambda: secretly(sub="ann\u200b"),
    "a NUL": lambda: secretly(sub="ann\0"),
    "no text at all": lambda: secretly(sub="\ud800"),
    "too long a name": lambda: secretly(sub="a" * 256),
    "too long a token": lambda: secretly(more="x" * 20_000),
    "claims that are no object": lambda: sign_symmetrically(SECRET.encode(), {"alg": "HS256"}, b"[]"),
    "claims that are no JSON": lambda: sign_symmetrically(SECRET.encode(), {"alg": "HS256"}, b"{"),
    "claims nested too deeply": lambda: sign_symmetrically(SECRET.encode(), {"alg": "HS256"}, b"[" * 9000),
    "rubbish": lambda: "rubbish",
    "five parts": lambda: "a.b.c.d.e",
}


async def test_a_token_that_is_not_ours_is_refused(api: httpx2.AsyncClient) -> None:
    for why, forge in ATTACKS.items():
        answer = await api.get("/api/me", headers=bearer(forge()))
        assert (why, answer.status_code) == (why, 401)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert answer.json()["detail"].startswith("the token is refused: ")


async def test_without_one_bearer_token_nobody_comes_in(api: httpx2.AsyncClient) -> None:
    good = f"Bearer {secretly()}"
    for headers in (
        [],
        [("Authorization", "Basic YTpi")],
        [("Authorization", "Bearer ")],
        [("Authorization", secretly())],
        [("Authorization", good), ("Authorization", good)],
    ):
        assert (await api.get("/api/me", headers=headers)).status_code == 401
    assert (await api.get("/api/me", headers={"Authorization": good.replace("B", "b", 1)})).status_code == 200


@pytest.mark.parametrize("named", ["jku", "x5u", "iss"])
async def test_an_address_that_a_token_names_is_never_asked(api: httpx2.AsyncClient, named: str) -> None:
    with KeyServer(jwk("evil", "RS256")) as server:
        token = own_key({named: server.url}) if named != "iss" else sign("evil", "RS256", iss=server.url)
        assert (await api.get("/api/me", headers=bearer(token))).status_code == 401
        assert server.requests == 0


async def test_each_way_to_sign_works_only_where_it_is_configured(tmp_path: Path) -> None:
    path = key_file(tmp_path, *good_keys())
    with pytest.raises(
        Unauthenticated, match=r"its alg is 'HS256', and this site takes RS256, ES256, EdDSA:"
    ):
        await TokenVerifier(auth(file=path)).verify(secretly())
    with pytest.raises(Unauthenticated, match=r"its alg is 'RS256', and this site takes HS256:"):
        await TokenVerifier(auth(secret=SECRET)).verify(sign("good", "RS256"))
    only = TokenVerifier(auth(file=path, algorithms=["ES256"]))
    assert (await only.verify(sign("good", "ES256"))).subject == "ann"
    with pytest.raises(Unauthenticated, match=r"takes ES256:"):
        await only.verify(sign("good", "RS256"))


def test_without_a_secret_no_token_is_made_here() -> None:
    with pytest.raises(ConfigInvalid, match=r"auth\.secret is not set"):
        mint_token(auth(url="https://keys"), user="ann", scopes=["macro:reader"], now=datetime.now(UTC))


async def test_clocks_may_differ_by_the_leeway_and_no_more() -> None:
    verifier = TokenVerifier(auth(secret=SECRET).model_copy(update={"leeway_seconds": 60.0}))
    now = int(datetime.now(UTC).timestamp())
    assert (await verifier.verify(secretly(exp=now - 20, nbf=now + 20, iat=now + 20))).subject == "ann"
    for claim in ({"exp": now - 90}, {"nbf": now + 90}, {"iat": now + 90}):
        with pytest.raises(Unauthenticated):
            await verifier.verify(secretly(**claim))


@pytest.mark.parametrize(
    ("given_claims", "expected"),
    [
        ({"scopes": None}, []),
        ({"scopes": "global:admin"}, []),
        ({"scopes": {"global": "admin"}}, []),
        ({"scopes": ["global:Admin", "global:admin ", 7, None, ["global:admin"], "*"]}, []),
        ({"scopes": None, "scope": "macro:editor openid  equity:reader"}, ["macro:editor", "equity:reader"]),
        ({"scopes": None, "scope": "macro:editor\nglobal:admin"}, []),
        ({"scopes": None, "scope": ["global:admin"]}, []),
        (
            {"scopes": ["macro:editor"], "scope": "macro:editor equity:reader"},
            ["macro:editor", "equity:reader"],
        ),
    ],
)
async def test_only_well_formed_scopes_count(given_claims: dict[str, Any], expected: list[str]) -> None:
    identity = await TokenVerifier(auth(secret=SECRET)).verify(secretly(**given_claims))
    assert [str(scope) for scope in identity.scopes] == expected


async def test_names_are_texts_or_empty() -> None:
    verifier = TokenVerifier(auth(secret=SECRET))
    named = await verifier.verify(secretly(preferred_username="ann.lee", email="ann@example.org"))
    assert (named.name, named.email) == ("ann.lee", "ann@example.org")
    odd = await verifier.verify(secretly(name=["Ann"], email="\ud800"))
    assert (odd.name, odd.email) == ("", "")


@examples(300)
@given(
    st.dictionaries(
        st.sampled_from(["alg", "kid", "crit", "typ", "b64", "jwk"]), st.from_type(type(None)) | st.text()
    ),
    st.dictionaries(
        st.sampled_from(
            ["sub", "exp", "iat", "nbf", "aud", "iss", "scopes", "scope", "name", "email", "jti"]
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner, max_size=3),
        ),
    ),
)
def test_whatever_is_signed_is_an_identity_or_is_refused(header: dict[str, Any], odd: dict[str, Any]) -> None:
    payload = json.dumps({**claims(), **odd}).encode()
    token = sign_symmetrically(SECRET.encode(), {**header, "alg": "HS256"}, payload)
    try:
        identity = asyncio.run(TokenVerifier(auth(secret=SECRET)).verify(token))
    except Unauthenticated as error:
        str(error).encode()
        return
    assert is_subject(identity.subject)
    assert identity.expires_at > datetime.now(UTC)
    identity.model_dump_json().encode()


@examples(200)
@given(st.text())
def test_whatever_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(Unauthenticated):
        asyncio.run(TokenVerifier(auth(secret=SECRET)).verify(text))


async def test_a_websocket_and_a_request_ask_for_their_caller_alike_and_once(
    database_url: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[str] = []
    verify = TokenVerifier.verify

    async def counted(self: TokenVerifier, token: str) -> Identity:
        verified.append(token)
        return await verify(self, token)

    monkeypatch.setattr(TokenVerifier, "verify", counted)
    app = identity_app(auth(secret=SECRET), database_url)

    @app.websocket("/socket")
    async def socket(socket: WebSocket, caller: Caller) -> None:
        await socket.accept()
        await socket.send_json({"subject": caller.subject, "again": socket.state.caller.subject})
        await socket.close()

    def talk() -> dict[str, str]:
        with (
            TestClient(app) as client,
            client.websocket_connect("/socket", headers=bearer(secretly())) as line,
        ):
            return dict(line.receive_json())

    assert await asyncio.to_thread(talk) == {"subject": "ann", "again": "ann"}
    assert len(verified) == 1
