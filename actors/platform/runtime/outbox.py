"""The dispatcher: sends what is in the outbox to the webhooks, at least once, each under its constant id.

`signoff up` starts one as a detached Ray actor. It wakes on NOTIFY, on a free slot and every second.
It keeps nothing that matters: killed while it sends, its deliveries are due again when their claims run
out. Several may run at once; a claim is one dispatcher's.
"""

import asyncio
import contextlib
import logging
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import httpx2

from actors.platform.runtime.webhook_message import signature_headers
from actors.platform.sending import Sender, now, sending_for
from actors.platform.web.resolver import NotLookedUp
from actors.platform.web.url_guard import guarded_client
from models.config import Config
from models.errors import AddressRefused, DatabaseUnavailable, NotSent, SealBroken
from models.retry_after import retry_after
from models.store import outbox, webhooks
from models.store.database import GONE, Database, missing
from models.text import storable
from models.webhooks.records import DeliveryClaim
from models.webhooks.sealing import Seal

_log = logging.getLogger("signoff.dispatcher")
# What a claim outlasts its request by: time to begin it, and to write down what it came to.
_GRACE_SECONDS = 30.0
_SKIM_BYTES = 4096
_LONGEST_RETRY_AFTER = 86_400.0
_USER_AGENT = "Signoff-Webhooks"


@dataclass(frozen=True)
class _SendOutcome:
    """What a try came to. `status` is absent when the target did not answer."""

    status: int | None
    error: str
    retry_after: float = 0.0

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


class Dispatcher:
    """Sends due deliveries until `stop`. `run` must be awaited once.

    Args:
        client: what requests go through; a guarded one of the configuration when absent.
        poll_seconds: how long a delivery may be due before it is noticed without a NOTIFY.
        chance: a random number from 0 to 1, for the spread of retries.
    """

    def __init__(
        self,
        *,
        config: Config,
        database: Database,
        client: httpx2.AsyncClient | None = None,
        poll_seconds: float = 1.0,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._settings = config.webhooks
        self._seal = Seal(config.webhooks.sealing_keys)
        self._database = database
        self._client = client or guarded_client(config.outgoing, timeout=config.webhooks.timeout_seconds)
        self._poll_seconds = poll_seconds
        self._chance = chance
        self._busy: Counter[int] = Counter()
        self._wake = asyncio.Event()
        self._stopping = False

    async def run(self) -> None:
        """Claim and send until `stop` is called, and then until what is under way has been answered."""
        async with self._client, asyncio.TaskGroup() as group:
            await self._seal_all()
            listener = group.create_task(self._database.listen(outbox.CHANNEL, lambda _: self._wake.set()))
            async with asyncio.TaskGroup() as sending:
                await self._claim_forever(sending)
            listener.cancel()

    def stop(self) -> None:
        """Begin nothing more."""
        self._stopping = True
        self._wake.set()

    async def _seal_all(self) -> None:
        """Seal what an earlier release kept plainly, or under a key that is not the first any more.

        Here and not with the migrations: only the dispatcher signs, and the earlier one has ended by now.
        """
        try:
            if sealed := await self._database.write(
                lambda connection: webhooks.seal_all(connection, self._seal)
            ):
                _log.info("sealed the secrets of %d webhooks", sealed)
        except DatabaseUnavailable as error:
            _log.error("webhooks' secrets will be sealed at the next start: %s", error)

    async def _claim_forever(self, sending: asyncio.TaskGroup) -> None:
        while not self._stopping:
            self._wake.clear()
            room = self._settings.concurrency - self._busy.total()
            begun = now()
            claims = await self._claim(room) if room > 0 else []
            for claim in claims:
                self._busy[claim.webhook_id] += 1
                sending.create_task(self._carry(claim, begun))
            if len(claims) < room or room <= 0:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._poll_seconds):
                        await self._wake.wait()

    async def _claim(self, room: int) -> list[DeliveryClaim]:
        try:
            return await outbox.claim(
                self._database,
                limit=room,
                per_webhook=self._settings.per_webhook,
                busy=self._busy,
                lease_seconds=self._settings.timeout_seconds + _GRACE_SECONDS,
            )
        except GONE as error:
            _log.warning("without %s nothing is claimed: %s", missing(error), error)
            return []

    async def _carry(self, claim: DeliveryClaim, begun: float) -> None:
        """Send a delivery and write down what it came to."""
        try:
            if now() - begun > _GRACE_SECONDS / 2:
                # We were held up, and the claim might run out under the request: leave it to whoever is next.
                _log.warning("delivery %s was claimed too long ago to be sent now", claim.id)
                return
            with sending_for(Sender(until=begun + self._settings.timeout_seconds + _GRACE_SECONDS / 2)):
                answer = await self._send(claim)
            if not await self._database.steadily(lambda: self._settle(claim, answer)):
                _log.warning("delivery %s was no longer ours when it was answered", claim.id)
        except (NotLookedUp, NotSent) as error:
            # That lies with us, and is no try of the target: it is due again when its claim runs out.
            _log.warning("delivery %s will be sent again: %s", claim.id, error)
        except DatabaseUnavailable as error:
            _log.error("delivery %s will be sent again: %s", claim.id, error)
        except Exception as error:  # noqa: BLE001  # nothing may end the dispatcher; what was not told is told here
            _log.exception("delivery %s could not be settled: %s", claim.id, error)
        finally:
            self._busy[claim.webhook_id] -= 1
            self._wake.set()

    async def _send(self, claim: DeliveryClaim) -> _SendOutcome:
        """What sending it came to. Raises NotLookedUp, NotSent: nothing was sent."""
        body = claim.body.encode()
        answer: _SendOutcome | None = None
        try:
            headers = self._headers(claim, body)
            async with (
                asyncio.timeout(self._settings.timeout_seconds),
                self._client.stream(claim.method, claim.url, content=body, headers=headers) as response,
            ):
                answer = _read(response)
                await _skim(response)
        except (NotLookedUp, NotSent):
            raise
        except Exception as error:  # noqa: BLE001  # whatever went wrong is a failed try, with its reason
            return answer or _SendOutcome(None, self._reason(error))
        return answer

    def _headers(self, claim: DeliveryClaim, body: bytes) -> httpx2.Headers:
        """What goes with a delivery. Raises SealBroken."""
        previous = claim.previous_secret
        headers = httpx2.Headers(self._seal.open_values(claim.headers))
        signatures = signature_headers(
            body,
            message_id=claim.id,
            timestamp=int(time.time()),
            secret=self._seal.open(claim.secret),
            previous_secret=None if previous is None else self._seal.open(previous),
        )
        headers.update({"Content-Type": "application/json", "User-Agent": _USER_AGENT, **signatures})
        return headers

    def _reason(self, error: Exception) -> str:
        if isinstance(error, TimeoutError | httpx2.TimeoutException):
            return f"no answer within {self._settings.timeout_seconds:g} s"
        said = (
            str(error)
            if isinstance(error, AddressRefused | SealBroken)
            else f"{type(error).__name__}: {error}"
        )
        return storable(said)[:500]

    async def _settle(self, claim: DeliveryClaim, answer: _SendOutcome) -> bool:
        if answer.is_success and answer.status is not None:
            return await outbox.delivered(self._database, claim, response_status=answer.status)
        if answer.status == 410:
            return await outbox.disabled(self._database, claim, response_status=410, error=answer.error)
        if claim.attempts >= claim.max_retries:
            return await outbox.dead(self._database, claim, response_status=answer.status, error=answer.error)
        pause = retry_pause(
            claim.attempts + 1,
            delay_seconds=claim.retry_delay_seconds,
            longest=self._settings.max_delay_seconds,
            chance=self._chance(),
        )
        return await outbox.failed(
            self._database,
            claim,
            in_seconds=max(pause, answer.retry_after),
            response_status=answer.status,
            error=answer.error,
        )


def retry_pause(attempt: int, *, delay_seconds: float, longest: float, chance: float) -> float:
    """Seconds to wait after try number `attempt`: doubled each time, at most `longest`, spread by a half.

    The spread keeps what failed together from coming back together.
    """
    return min(delay_seconds * 2.0 ** min(attempt - 1, 500), longest) * (0.5 + chance / 2)


def _read(response: httpx2.Response) -> _SendOutcome:
    status = response.status_code
    if status == 410:
        return _SendOutcome(status, "the target said 410 Gone: switch the webhook on again if it is back")
    if 300 <= status < 400:
        return _SendOutcome(status, f"HTTP {status}: redirects are not followed: change the webhook's url")
    wait = None
    if status in (429, 503):
        wait = retry_after(response.headers.get("Retry-After"), longest=_LONGEST_RETRY_AFTER)
    return _SendOutcome(status, f"HTTP {status}", wait or 0.0)


async def _skim(response: httpx2.Response) -> None:
    """Let the target say the beginning of its answer, for which we have no use."""
    seen = 0
    async for part in response.aiter_raw():
        seen += len(part)
        if seen >= _SKIM_BYTES:
            return
