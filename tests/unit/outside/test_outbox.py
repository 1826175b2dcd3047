"""What the dispatcher takes for a try of the target, and what for a fault of its own."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from actors.platform.runtime import outbox
from actors.platform.runtime.outbox import Dispatcher
from actors.platform.runtime.webhook_message import new_secret
from actors.platform.web.resolver import NotLookedUp
from actors.platform.web.url_guard import Resolve, guarded_client
from models.webhooks.records import DeliveryClaim
from models.webhooks.sealing import Seal
from tests.unit.outside.search_config import configured


class Written:
    """Stands for the database: what was written down of deliveries."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.failures: list[str] = []
        monkeypatch.setattr(outbox.outbox, "failed", self._failed)

    async def _failed(self, *_: Any, error: str, **__: Any) -> bool:
        self.failures.append(error)
        return True

    async def steadily(self, call: Callable[[], Awaitable[bool]]) -> bool:
        """As the database's."""
        return await call()


async def tried(written: Written, resolve: Resolve) -> None:
    """Carry one delivery."""
    config = configured()
    claim = DeliveryClaim(
        id="wh_1",
        webhook_id=1,
        attempts=0,
        claimed_until=datetime.now(UTC),
        body="{}",
        url="http://hooks.example.com/",
        method="POST",
        headers={},
        secret=Seal(config.webhooks.sealing_keys).close(new_secret()),
        previous_secret=None,
        max_retries=3,
        retry_delay_seconds=1,
    )
    client = guarded_client(config.outgoing, timeout=5, resolve=resolve)
    dispatcher = Dispatcher(config=config, database=written, client=client)  # type: ignore[arg-type]
    async with client:
        await dispatcher._carry(claim, begun=float("inf"))


async def test_a_delivery_whose_host_could_not_be_looked_up_here_was_not_tried(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def overrun(host: str) -> list[str]:
        raise NotLookedUp(f"{host} can't be looked up now")

    written = Written(monkeypatch)
    await tried(written, overrun)
    assert written.failures == []
    assert "delivery wh_1 will be sent again: hooks.example.com can't be looked up now" in caplog.text


async def test_a_delivery_whose_host_has_no_address_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unknown(host: str) -> list[str]:
        raise OSError("no such name")

    written = Written(monkeypatch)
    await tried(written, unknown)
    assert written.failures == ["ConnectError: hooks.example.com can't be resolved: no such name"]
