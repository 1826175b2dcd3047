"""`signoff submit NAME`: `ray job submit` of `python -m pipelines.NAME` with address, token and folder right.

The working directory is the current one, without what .gitignore names, .git and the data folder.
The job's logs are followed to its end; its exit code is ours.
"""

import asyncio
import getpass
import logging
import shlex
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from actors.runtime.submitter import METADATA
from cluster import ray
from models.config import Config
from models.errors import ClusterProblem

if TYPE_CHECKING:
    from ray.job_submission import JobSubmissionClient

INTERRUPTED = 130


def dashboard_url(config: Config) -> str:
    """Where jobs are submitted: the dashboard of our head, or of the configured cluster's head."""
    host = ray.LOOPBACK if config.ray.address is None else config.ray.address.rpartition(":")[0]
    return f"http://{host}:{config.ray.dashboard_port}"


def submit(config: Config, name: str, arguments: Sequence[str]) -> int:
    """Run the pipeline as a Ray job, print its logs, and return its exit code (130 when interrupted).

    Raises:
        ClusterProblem: there is no such pipeline here, or the cluster does not take the job.
    """
    folder = Path.cwd()
    known = sorted(path.stem for path in folder.glob("pipelines/*.py") if "__main__" in path.read_text())
    if name not in known:
        raise ClusterProblem(
            f"no pipeline {name!r} in {folder / 'pipelines'}: "
            + (f"there are {', '.join(known)}" if known else "run `signoff submit` in Signoff's folder")
        )
    client = _client(config)
    job = _start(client, config, folder, shlex.join(["python", "-m", f"pipelines.{name}", *arguments]))
    print(f"job {job} runs; Ctrl-C stops it", flush=True)
    try:
        asyncio.run(_follow(client, job))
    except KeyboardInterrupt:
        stopped = _stop(client, job)
        print(f"\njob {job} {'was stopped' if stopped else 'is being stopped'}; submit it again to go on")
        return INTERRUPTED
    return _exit_code(client, job)


def _client(config: Config) -> "JobSubmissionClient":
    from ray.job_submission import JobSubmissionClient

    # How it packs and uploads the folder is Ray's own business.
    logging.disable(logging.WARNING)
    address = dashboard_url(config)
    try:
        return JobSubmissionClient(address)
    except (ConnectionError, RuntimeError) as error:
        raise ClusterProblem(f"no Ray cluster answers at {address}: run `signoff up` first") from error


def _start(client: "JobSubmissionClient", config: Config, folder: Path, entrypoint: str) -> str:
    excludes = ["/.git", "/.venv", "node_modules"]
    if config.data_dir.is_relative_to(folder) and config.data_dir != folder:
        excludes.append(f"/{config.data_dir.relative_to(folder)}")
    try:
        job: str = client.submit_job(
            entrypoint=entrypoint,
            runtime_env={"working_dir": str(folder), "excludes": excludes},
            metadata={METADATA: getpass.getuser()},
            entrypoint_num_cpus=0,
        )
    except (RuntimeError, ValueError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise ClusterProblem(f"the cluster does not take the job: {lines[-1] if lines else error}") from error
    return job


async def _follow(client: "JobSubmissionClient", job: str) -> None:
    """Print the job's logs until it ends. A connection that breaks is made again where it broke."""
    printed = 0
    while True:
        seen = 0
        with suppress(RuntimeError, OSError):
            async for text in client.tail_job_logs(job):
                fresh = text[max(0, printed - seen) :]
                seen += len(text)
                if fresh:
                    print(fresh, end="", flush=True)
                    printed += len(fresh)
        if (await asyncio.to_thread(client.get_job_status, job)).is_terminal():
            return
        await asyncio.sleep(0.5)


def _stop(client: "JobSubmissionClient", job: str) -> bool:
    """Ask for the job's end and wait a little for it; whether it came."""
    with suppress(RuntimeError):
        client.stop_job(job)
        for _ in range(20):
            if client.get_job_status(job).is_terminal():
                return True
            time.sleep(0.5)
    return False


def _exit_code(client: "JobSubmissionClient", job: str) -> int:
    details = client.get_job_info(job)
    if details.status.value == "SUCCEEDED":
        return 0
    code = details.driver_exit_code
    # The rest of the message is the end of the log, which has been printed.
    reason = (details.message or "").partition("\n")[0].partition(", last available logs")[0]
    print(f"job {job} {details.status.value.lower()}: {reason}", flush=True)
    # Stopped from elsewhere, or never begun: there is no exit code, and it is no success.
    return code if code is not None and 0 < code < 256 else 1
