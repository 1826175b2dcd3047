"""The campaign's webhook target notes what it was sent, and what it answered."""

import asyncio

import httpx2
import pytest

from tests.faults.site.target import Mood, Taken, Target


async def post(target: Target, number: int) -> int:
    async with httpx2.AsyncClient(trust_env=False, timeout=10) as http:
        headers = {"webhook-id": f"wh_{number}"}
        return (await http.post(target.url, content=b"{}", headers=headers)).status_code


async def test_it_takes_what_it_is_sent() -> None:
    async with Target() as target:
        assert await post(target, 1) == 200
        assert target.taken == [Taken("wh_1", b"{}", 200)]
        assert target.refused == 0


@pytest.mark.parametrize("mood", ["refuses", "hangs", "hangs up"])
async def test_it_refuses_for_a_while(mood: Mood) -> None:
    async with Target() as target:
        with target.being(mood):
            sent = asyncio.create_task(post(target, 1))
            async with asyncio.timeout(10):
                while not target.refused:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
        if mood == "refuses":
            assert await sent == 503
        else:
            with pytest.raises(httpx2.TransportError):
                await sent
        assert await post(target, 2) == 200
        assert [one.id for one in target.taken] == ["wh_1", "wh_2"]
