"""The tools of market data: who may call them, what they take and answer, and what they refuse."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from models.config import Config
from models.errors import InputInvalid, PermissionMissing, ProviderFailed, ProviderLimited, ProviderMissing
from models.store.database import Database
from tests.fakes.outside.market_providers import KEY, MarketServer, Reply
from tests.integration.editorial.desk import Desk
from tests.integration.rest import client, served

Configure = Callable[..., Config]
CALLS: dict[str, dict[str, Any]] = {
    "fetch_equity_data": {"symbol": "AAPL"},
    "fetch_economic_data": {"series_id": "UNRATE"},
    "fetch_fx_rates": {"base": "EUR", "quote": "USD"},
    "fetch_treasury_yields": {"maturities": ["2Y", "10Y"]},
}
SETTINGS = {
    "fetch_equity_data": "yfinance",
    "fetch_economic_data": "fred",
    "fetch_fx_rates": "ecb_fx",
    "fetch_treasury_yields": "us_treasury",
}
TOOLS = [*CALLS, "search_series"]


@pytest.fixture
def server() -> Iterator[MarketServer]:
    """All outside providers."""
    with MarketServer() as made:
        yield made


def outside(configure: Configure, url: str, **more: Any) -> Config:
    """A site whose providers are all outside, and which has the samples too."""
    providers: dict[str, Any] = {name: {"url": url} for name in SETTINGS.values()}
    providers["fred"]["api_key"] = KEY
    return configure(
        {
            "outside.market_data": {**providers, "sample": {}, **more},
            "outgoing.allow_internal": ["127.0.0.1/32"],
        }
    )


async def test_the_default_is_sample_data_and_marked_as_such(desk: Desk) -> None:
    ann = await desk.person("ann", "macro:analyst")
    for tool, arguments in CALLS.items():
        table = (await desk.call(ann, tool, **arguments)).table
        assert table.source == "sample"
        assert "(sample data)" in table.title
        assert "sample data" in table.note
        assert len(table.rows) > 30
    every = (await desk.call(ann, "fetch_treasury_yields")).table
    assert every.columns == ("date", "3M", "2Y", "5Y", "10Y", "30Y")


async def test_an_outside_provider_comes_first_and_its_failure_is_no_reason_for_sample_data(
    database: Database, configure: Configure, server: MarketServer
) -> None:
    desk = Desk(database, outside(configure, server.url))
    ann = await desk.person("ann", "macro:analyst")
    span = {"start": "2026-06-01", "end": "2026-09-30"}
    for tool, arguments in CALLS.items():
        table = (await desk.call(ann, tool, **arguments, **span)).table
        assert table.source == SETTINGS[tool]
        assert table.url.startswith(server.url)
        assert KEY not in table.model_dump_json()
        sample = (await desk.call(ann, tool, **arguments, **span, provider="sample")).table
        assert sample.source == "sample"
        server.script(Reply(502, b"<html>Bad Gateway</html>"))
        with pytest.raises(ProviderFailed, match=SETTINGS[tool]):
            await desk.call(ann, tool, **arguments, **span)
        server.script(Reply(429, b"", {"Retry-After": "9"}))
        with pytest.raises(ProviderLimited) as error:
            await desk.call(ann, tool, **arguments, **span)
        assert error.value.facts["retry_after_seconds"] == 9


async def test_analysts_of_any_topic_may_and_others_learn_nothing(desk: Desk) -> None:
    for scopes in (["macro:editor"], ["esg:reader"], []):
        reader = await desk.person("rob", *scopes)
        for tool in TOOLS:
            with pytest.raises(PermissionMissing, match="analyst"):
                await desk.call(reader, tool, **CALLS.get(tool, {"query": "inflation"}))
        names = {tool.name for tool in desk.registry.permitted(reader.scopes, door="mcp")}
        assert not names & set(TOOLS)
    names = {
        tool.name
        for tool in desk.registry.permitted((await desk.person("ann", "esg:analyst")).scopes, door="agent")
    }
    assert names >= set(TOOLS)


async def test_without_a_provider_a_tool_is_not_listed_and_says_which_setting_to_add(
    database: Database, configure: Configure, server: MarketServer
) -> None:
    providers = {"ecb_fx": {"url": server.url}}
    desk = Desk(database, configure({"outside.market_data": providers}))
    ann = await desk.person("ann", "macro:analyst")
    names = {tool.name for tool in desk.registry.permitted(ann.scopes, door="rest")}
    assert names & set(TOOLS) == {"fetch_fx_rates", "search_series"}
    for tool in set(CALLS) - {"fetch_fx_rates"}:
        with pytest.raises(ProviderMissing, match=rf"outside\.market_data\.{SETTINGS[tool]}"):
            await desk.call(ann, tool, **CALLS[tool])
    nothing = Desk(database, configure({"outside.market_data": {}}))
    with pytest.raises(ProviderMissing, match=r"outside\.market_data\.yfinance"):
        await nothing.call(ann, "search_series", query="inflation")


REFUSED: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("fetch_equity_data", {"symbol": "AAPLX"}, InputInvalid, "symbol: sample has no AAPLX; it has AAPL"),
    ("fetch_equity_data", {"symbol": "../x"}, InputInvalid, "symbol: give"),
    ("fetch_equity_data", {"symbol": "A" * 21}, InputInvalid, "symbol: "),
    ("fetch_equity_data", {"symbol": 7}, InputInvalid, "symbol: "),
    ("fetch_equity_data", {"ticker": "AAPL"}, InputInvalid, "ticker: "),
    ("fetch_equity_data", {"start": "01.07.2026"}, InputInvalid, "start: write a day as YYYY-MM-DD"),
    ("fetch_equity_data", {"start": 1788220800}, InputInvalid, "start: write a day as YYYY-MM-DD"),
    ("fetch_equity_data", {"start": "2026-02-30"}, InputInvalid, "start: day is out of range"),
    ("fetch_equity_data", {"start": "2999-01-01"}, InputInvalid, "start: 2999-01-01 lies in the future"),
    (
        "fetch_equity_data",
        {"start": "2026-08-02", "end": "2026-08-01"},
        InputInvalid,
        "end: 2026-08-01 is",
    ),
    (
        "fetch_equity_data",
        {"provider": "yfinance"},
        ProviderMissing,
        "provider: yfinance is not configured",
    ),
    ("fetch_equity_data", {"provider": "fred"}, InputInvalid, "provider: 'fred' has no equity data"),
    ("fetch_economic_data", {"series_id": "A&b=c"}, InputInvalid, "series_id: give"),
    ("fetch_fx_rates", {"base": "XXX"}, InputInvalid, "base: no currency 'XXX' here"),
    ("fetch_fx_rates", {"quote": "EUR"}, InputInvalid, "quote: is EUR like base"),
    ("fetch_fx_rates", {"quote": "CZK"}, InputInvalid, "quote: sample has no CZK"),
    ("fetch_treasury_yields", {"maturities": ["11Y"]}, InputInvalid, "maturities: there is no '11Y'"),
    ("fetch_treasury_yields", {"maturities": []}, InputInvalid, "maturities: "),
    ("fetch_treasury_yields", {"maturities": ["20Y"]}, InputInvalid, "maturities: sample has no 20Y"),
]


async def test_what_can_t_be_is_refused_by_field_and_recorded(desk: Desk) -> None:
    ann = await desk.person("ann", "macro:analyst")
    for tool, changes, error, told in REFUSED:
        with pytest.raises(error) as raised:
            await desk.call(ann, tool, **{**CALLS[tool], **changes})
        assert str(raised.value).startswith(told), (tool, changes)
    async with desk.database.connection() as connection:
        found = await connection.execute("SELECT tool, status FROM tool_calls ORDER BY id")
        rows = await found.fetchall()
    assert [(row["tool"], row["status"]) for row in rows] == [
        (tool, error.__name__) for tool, _, error, _ in REFUSED
    ]


FOUND: list[tuple[str, str | None, str]] = [
    ("inflation in Poland", None, "CP0000PLM086NEST_PC1"),
    ("bezrobocie w Niemczech", None, "LRHUTTTTDEM156S"),
    ("siemens", "equity", "SIE.DE"),
    ("Apple", None, "AAPL"),
    ("zloty", "fx", "EUR/PLN"),
    ("US 10-year yield", "treasury", "10Y"),
]


async def test_series_are_found_by_words(desk: Desk) -> None:
    ann = await desk.person("ann", "macro:analyst")
    for query, kind, first in FOUND:
        found = (await desk.call(ann, "search_series", query=query, kind=kind, limit=3)).series
        assert found[0].series_id == first, query
        assert 1 <= len(found) <= 3
        assert {info.provider for info in found} == {"sample"}
    assert (await desk.call(ann, "search_series", query="xyzzy")).series == ()


async def test_the_endpoints_answer_the_seed_s_paths(
    database_url: str, configure: Configure, server: MarketServer
) -> None:
    """Seed 000 §7.1, and the paths beside it."""
    config = outside(configure, server.url)
    with served(config, database_url) as base:
        async with client(config, base, "ann", "macro:analyst") as ann:
            paths = {"economic-data": "fetch_economic_data", "equity-data": "fetch_equity_data"}
            paths |= {"fx-rates": "fetch_fx_rates", "treasury-yields": "fetch_treasury_yields"}
            for path, tool in paths.items():
                body = {**CALLS[tool], "start": "2026-09-01", "end": "2026-09-30"}
                answer = await ann.post(f"/api/tools/research/{path}", json=body)
                assert answer.status_code == 200, answer.text
                assert answer.json()["success"] is True
                assert answer.json()["table"]["source"] == SETTINGS[tool]
                assert answer.json()["table"]["rows"][0][0] == "2026-09-01"
            found = await ann.post("/api/tools/research/series", json={"query": "bezrobocie w Polsce"})
            assert found.json()["series"][0]["series_id"] == "LRHUTTTTPLM156S"
            wrong = await ann.post("/api/tools/research/equity-data", json={"symbol": "A", "start": "today"})
            assert wrong.status_code == 422
            assert "start" in wrong.text
            server.script(Reply(500, b"oops"))
            failed = await ann.post("/api/tools/research/fx-rates", json={"base": "EUR", "quote": "USD"})
            assert (failed.status_code, failed.headers["content-type"]) == (502, "application/problem+json")
            assert "ecb_fx" in failed.json()["detail"]
            server.script(Reply(429, b"", {"Retry-After": "30"}))
            limited = await ann.post("/api/tools/research/fx-rates", json={"base": "EUR", "quote": "USD"})
            assert limited.status_code == 503
        async with client(config, base, "rob", "macro:reader") as rob:
            refused = await rob.post("/api/tools/research/equity-data", json={"symbol": "AAPL"})
            assert refused.status_code == 403
