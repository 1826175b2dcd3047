"""A short campaign of faults; that its tools do what they say; and that old defects can still be put back.

The long one is `make faults`.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from tests.examples import proving
from tests.faults.campaign import Campaign
from tests.faults.defect import HOLDS
from tests.faults.defects import FOUND_BY
from tests.faults.draws import FAULTS, draw
from tests.faults.site.proxy import Proxy
from tests.integration.conftest import ROOT


@pytest.mark.slow
async def test_a_short_campaign_finds_nothing() -> None:
    campaign = Campaign(seed=55, faults=20, most=13)
    await campaign.carry()
    assert [outcome.wrong for outcome in campaign.outcomes] == [[] for _ in campaign.outcomes]
    assert campaign.drawn >= campaign.done >= 20
    assert all(outcome.batches and outcome.messages > 10 for outcome in campaign.outcomes)


@pytest.mark.parametrize(
    "number", [number for number, defect in FOUND_BY.items() if defect.in_tests or proving()]
)
@pytest.mark.slow
async def test_a_defect_that_is_put_back_is_found(number: int) -> None:
    search = FOUND_BY[number]
    assert search.seed is not None
    campaign = Campaign(
        seed=search.seed, faults=40, fewest=4, most=5, only=list(search.only), defect=number, runs=8
    )
    await campaign.carry(until_wrong=True)
    assert campaign.wrong


def test_each_defect_can_still_be_put_back() -> None:
    """Each in a process of its own, as it changes the product; all from one that has imported it."""
    code = """if True:
        import os
        from tests.faults.defects import DEFECTS, put_back

        def is_put_back(number):
            if child := os.fork():
                return os.waitpid(child, 0)[1] == 0
            put_back(number)
            os._exit(0)

        print([number for number in DEFECTS if not is_put_back(number)])
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    assert done.stdout == "[]\n", done.stderr


def test_each_thing_that_must_hold_has_a_defect_that_a_campaign_looks_for() -> None:
    assert {defect.holds for defect in FOUND_BY.values()} == HOLDS.keys()


def test_what_is_drawn_follows_from_the_seed() -> None:
    import random

    first, second, other = (draw(random.Random(seed), 50, []) for seed in ("1/0", "1/0", "1/1"))
    assert first == second != other
    assert {name for name, _, _ in draw(random.Random(1), 2000, [])} == set(FAULTS)


@pytest.fixture
async def proxy(postgres_folder: Path, postgres: str) -> AsyncIterator[Proxy]:
    """A proxy before the tests' Postgres."""
    from urllib.parse import unquote

    socket = Path(unquote(postgres.split("host=")[1].split("&")[0]))
    async with Proxy(socket) as proxy:
        yield proxy


def through(proxy: Proxy, url: str) -> str:
    """The same database, through the proxy."""
    name = url.rsplit("/", 1)[1].split("?")[0]
    return f"postgresql://postgres@127.0.0.1:{proxy.port}/{name}?sslmode=disable&gssencmode=disable"


async def write_and_commit(connection: "psycopg.AsyncConnection[tuple[object, ...]]") -> None:
    """One row."""
    await connection.execute("INSERT INTO batches VALUES ('b', 'ann', now(), now())")
    await connection.commit()


@pytest.mark.parametrize("autocommit", [True, False])
async def test_a_commit_whose_answer_is_lost_was_done(
    proxy: Proxy, database_url: str, autocommit: bool
) -> None:
    url = through(proxy, database_url)
    async with await psycopg.AsyncConnection.connect(url, autocommit=autocommit) as connection:
        await connection.execute("SELECT 1")
        proxy.lose(1)
        with pytest.raises(psycopg.OperationalError):
            await write_and_commit(connection)
    assert proxy.lost == 1
    async with await psycopg.AsyncConnection.connect(url) as connection:
        rows = await (await connection.execute("SELECT id FROM batches")).fetchall()
    assert rows == [("b",)]


async def test_a_stalled_connection_loses_nothing_and_a_refused_one_is_cut(
    proxy: Proxy, database_url: str
) -> None:
    url = through(proxy, database_url) + "&application_name=somebody"
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        with proxy.stalled("somebody"):
            asked = asyncio.create_task(connection.execute("SELECT 42"))
            done, _ = await asyncio.wait({asked}, timeout=0.3)
            assert not done
        cursor = await asyncio.wait_for(asked, 10)
        assert await cursor.fetchone() == (42,)
        with proxy.refusing():
            with pytest.raises(psycopg.OperationalError):
                await connection.execute("SELECT 1")
            with pytest.raises(psycopg.OperationalError):
                await psycopg.AsyncConnection.connect(url)
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute("SELECT 1")
