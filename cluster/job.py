"""A Ray job that was submitted: its logs, its end, its exit code.

`submit` calls it. The head may be away for a moment: what is asked of it is asked again for a while.
"""

import asyncio
import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from cluster.plain_text import last_line, one_line, plain
from models.errors import ClusterProblem

if TYPE_CHECKING:
    from ray.job_submission import JobSubmissionClient

INTERRUPTED = 130
_AWAY_SECONDS, _PAUSE_SECONDS = 30.0, 0.5
_STOP_TRIES = 20
# Exit codes from here on, and those below 0, are of a driver that a signal ended.
_SIGNALLED = 128
_GO_ON = "submit it again to go on: what is done stays done, and `signoff workflows` says what stands still"
# Ray's own warnings have them.
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
T = TypeVar("T")


def follow(client: "JobSubmissionClient", job: str) -> int:
    """Print the job's logs until it ends; its exit code. Ctrl-C stops the job: 130.

    Raises:
        ClusterProblem: the cluster has been away for too long; the job may go on.
    """
    try:
        asyncio.run(_print_logs(client, job))
    except KeyboardInterrupt:
        stopped = _stop(client, job)
        print(f"\njob {job} {'was stopped' if stopped else 'is being stopped'}; submit it again to go on")
        return INTERRUPTED
    return _exit_code(client, job)


async def _print_logs(client: "JobSubmissionClient", job: str) -> None:
    """Until it ends, as text that steers no terminal. A broken connection is made again where it broke."""
    import aiohttp

    printed = 0
    while True:
        seen = 0
        with suppress(RuntimeError, OSError, aiohttp.ClientError):
            async for text in client.tail_job_logs(job):
                fresh = text[max(0, printed - seen) :]
                seen += len(text)
                if fresh:
                    print(plain(_COLOURS.sub("", fresh)), end="", flush=True)
                    printed += len(fresh)
        status = await asyncio.to_thread(_insist, lambda: client.get_job_status(job), job)
        if status.is_terminal():
            return
        await asyncio.sleep(_PAUSE_SECONDS)


def _insist(ask: Callable[[], T], job: str) -> T:
    """Ask the head, again while it does not answer. Raises ClusterProblem after `_AWAY_SECONDS`."""
    deadline = time.monotonic() + _AWAY_SECONDS
    while True:
        try:
            return ask()
        except (RuntimeError, OSError) as error:
            if time.monotonic() > deadline:
                raise _away(job, error) from error
        time.sleep(_PAUSE_SECONDS)


def _away(job: str, error: Exception) -> ClusterProblem:
    return ClusterProblem(f"the cluster is away ({last_line(error)}); job {job} may go on: submit again")


def _stop(client: "JobSubmissionClient", job: str) -> bool:
    """Ask for the job's end and wait a little for it; whether it came."""
    try:
        # A job that has ended meanwhile can't be stopped, which is refused.
        with suppress(RuntimeError):
            client.stop_job(job)
            for _ in range(_STOP_TRIES):
                if client.get_job_status(job).is_terminal():
                    return True
                time.sleep(_PAUSE_SECONDS)
    except OSError as error:
        raise _away(job, error) from error
    return False


def _exit_code(client: "JobSubmissionClient", job: str) -> int:
    details = _insist(lambda: client.get_job_info(job), job)
    if details.status.value == "SUCCEEDED":
        return 0
    code = details.driver_exit_code
    # The rest of the message is the end of the log, which has been printed.
    reason = (details.message or "").partition("\n")[0].partition(", last available logs")[0]
    print(f"job {job} {details.status.value.lower()}: {one_line(reason)}", flush=True)
    if details.status.value == "STOPPED" or (code is not None and not 0 <= code < _SIGNALLED):
        print(_GO_ON, flush=True)
    # Stopped from elsewhere, or never begun: there is no exit code, and it is no success.
    return code if code is not None and 0 < code < 256 else 1
