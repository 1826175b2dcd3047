"""`signoff submit NAME`: `ray job submit` of `python -m pipelines.NAME` with address, token and folder right.

Typed in a folder with pipelines, the job gets a copy of it, without what .gitignore and .rayignore name,
.git, the data folder, configurations with all that they extend, and files of secrets. (`.rayignore` leaves
those in configs/ out of a plain `ray job submit` as well.) Typed elsewhere nothing is uploaded: it runs the
cluster's own pipelines, on this machine in the folder it was typed in. The job asks the site for its
configuration; its exit code is ours. How it is followed is in `job`.
"""

import logging
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from actors.platform.runtime.submitter import METADATA
from cluster import job as jobs
from cluster import ray
from cluster.cli.login import login
from cluster.folders import ROOT
from cluster.plain_text import last_line
from models.config import Config
from models.config.yaml_layers import read_layers
from models.errors import ClusterProblem

if TYPE_CHECKING:
    from ray.job_submission import JobSubmissionClient


def dashboard_url(config: Config) -> str:
    """Where jobs are submitted: the dashboard of our head, or of the configured cluster's head."""
    host = ray.LOOPBACK if config.ray.address is None else config.ray.address.rpartition(":")[0]
    return f"http://{host}:{config.ray.dashboard_port}"


def submit(config: Config, name: str, arguments: Sequence[str], *, config_file: Path) -> int:
    """Run the pipeline as a Ray job, print its logs, and return its exit code (130 when interrupted).

    `config_file`: where `config` was read, so that it is not uploaded.

    Raises:
        ClusterProblem: there is no such pipeline here, or the cluster does not take the job, or goes away.
        ConfigInvalid: a file that `--config` names can't be read, or who submits can't be told.
    """
    here = Path.cwd()
    folder = here if _pipelines(here) else ROOT
    known = _pipelines(folder)
    if name not in known:
        raise ClusterProblem(
            f"no pipeline {name!r} in {folder / 'pipelines'}: "
            + (f"there are {', '.join(known)}" if known else "run `signoff submit` in Signoff's folder")
        )
    metadata = _metadata(arguments)
    command = ["python", "-m", f"pipelines.{name}", *arguments]
    files = [config_file, *configurations(arguments)]
    prepared = entrypoint(config, command, here, files, ours=folder == here)
    client = _client(config)
    job = _start(client, *prepared, metadata)
    print(f"job {job} runs; Ctrl-C stops it", flush=True)
    return jobs.follow(client, job)


def _client(config: Config) -> "JobSubmissionClient":
    from ray.job_submission import JobSubmissionClient

    # How it packs and uploads the folder is Ray's own business.
    logging.disable(logging.WARNING)
    address = dashboard_url(config)
    try:
        return JobSubmissionClient(address)
    except (ConnectionError, RuntimeError) as error:
        raise ClusterProblem(f"no Ray cluster answers at {address}: run `signoff up` first") from error


def entrypoint(
    config: Config, command: Sequence[str], here: Path, files: Sequence[Path], *, ours: bool
) -> tuple[str, dict[str, object]]:
    """What the job runs, and Ray's `runtime_env` for it; `ours`: the pipelines are those of this folder."""
    if ours:
        return shlex.join(command), {"working_dir": str(here), "excludes": excludes(config, here, files)}
    if config.ray.address is not None:
        return shlex.join(command), {}
    # The job runs on this machine, so that relative paths can mean what they mean here. `-P`: what else
    # lies in this folder is not imported.
    python, *rest = command
    return f"cd {shlex.quote(str(here))} && exec {shlex.join([python, '-P', *rest])}", {}


def _pipelines(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("pipelines/*.py") if "__main__" in path.read_text())


def excludes(config: Config, folder: Path, files: Sequence[Path]) -> list[str]:
    """What of the folder is not uploaded, as lines of a .gitignore; `files`: configurations."""
    left_out = dict.fromkeys(["/.git", "/.venv", "node_modules", "/configs/*.yaml"])
    secret = [found for file in files for found in _with_secrets(folder / file, folder)]
    for path in (config.data_dir, *secret):
        # By its name, and where a link leads: either could lie in the folder.
        for place in (Path(os.path.normpath(path)), path.resolve()):
            if place.is_relative_to(folder) and place != folder:
                left_out[f"/{_as_pattern(place.relative_to(folder))}"] = None
    return list(left_out)


def _with_secrets(file: Path, folder: Path) -> Iterator[Path]:
    """A configuration, what it extends, and the files that its secrets are in."""
    yield file
    # One that the site's own folder has, and this one has not, is not uploaded.
    if file.is_file():
        layers = read_layers(file)
        yield from (path for path, _ in layers.files)
        yield from (folder / Path(name).expanduser() for name in _secret_files(layers.merged()))


def _secret_files(said: Any) -> Iterator[str]:
    if (
        isinstance(said, dict)
        and {"file"} <= said.keys() <= {"file", "make"}
        and isinstance(said["file"], str)
    ):
        yield said["file"]
        return
    inner = said.values() if isinstance(said, dict) else said if isinstance(said, list) else ()
    for value in inner:
        yield from _secret_files(value)


def _as_pattern(path: Path) -> str:
    r"""The path itself: what means something in a .gitignore gets a `\`."""
    return re.sub(r"([\\*?\[\] ])", r"\\\1", str(path))


def configurations(arguments: Sequence[str]) -> list[Path]:
    """The values of `--config`, however they are written; the last one counts."""
    following = [
        (place + 1, pair[1]) for place, pair in enumerate(pairwise(arguments)) if pair[0] == "--config"
    ]
    joined = [
        (place, argument.partition("=")[2])
        for place, argument in enumerate(arguments)
        if argument.startswith("--config=")
    ]
    return [Path(value) for _, value in sorted([*following, *joined])]


def _metadata(arguments: Sequence[str]) -> dict[str, str]:
    """Who submits; the pipeline's own `--as` says so where the login name can't be told, as in a pod."""
    if any(argument == "--as" or argument.startswith("--as=") for argument in arguments):
        return {}
    return {METADATA: login("--as")}


def _start(
    client: "JobSubmissionClient", entrypoint: str, runtime_env: dict[str, object], metadata: dict[str, str]
) -> str:
    try:
        job: str = client.submit_job(
            entrypoint=entrypoint, runtime_env=runtime_env, metadata=metadata, entrypoint_num_cpus=0
        )
    except (RuntimeError, ValueError, OSError) as error:
        raise ClusterProblem(f"the cluster does not take the job: {last_line(error)}") from error
    return job
