"""`signoff up` and `signoff down`: which parts there are, and the live table of them.

What a part is stands in `plan`, the parts themselves in `parts` and `apps`. `down` stops what `up`
started and nothing else, keeps the data, and works after a crash of any part.
"""

import logging
import os
import sys
from pathlib import Path

from rich.console import Console

from actors.platform import logs
from cluster import ray
from cluster.bringup import Bringup, local_head
from cluster.folders import ensure_writable
from cluster.parts.agents import Agents
from cluster.parts.apps import OldApps, base_url, serve_apps
from cluster.parts.infrastructure import (
    BundledModel,
    Head,
    Machine,
    Postgres,
    SitePart,
)
from cluster.parts.plan import ClusterPart, run_parts
from cluster.parts.schema import OldSchema, Schema
from cluster.parts.workers import DispatcherPart, Runners, SearchIndexPart
from cluster.postgres import server
from cluster.state import ClusterState, only_one, read_state, write_state
from cluster.view import ProgressView
from models.config import Config


def up(config: Config, console: Console, *, file: Path, stop: str) -> None:
    """Bring everything up that is not, and wait until each part answers. `file` is where `config` was read.

    `stop` is the command that ends it, as the person can type it.

    Raises:
        SignoffError: a part can't come up; the message says what is wrong and what to do.
    """
    # What is made here, and by what is started here, is for this user alone.
    os.umask(0o077)
    ensure_writable(config.data_dir)
    with only_one(config.data_dir):
        # As in the head's environment: vLLM takes twice as long to import when it must be compiled.
        sys.dont_write_bytecode = False
        # Ray, Serve and vLLM log to this process too; the table is told what matters.
        logging.disable(logging.WARNING)
        logs.begin(config.monitoring.logs, process="up")
        bringup = Bringup(config, file=file.absolute())
        with ProgressView(console) as watch:
            run_parts(all_parts(bringup), watch)
    for note in bringup.notes:
        console.print(note)
    head = bringup.state.ray
    console.print(f"HTTP {base_url(config)}   dashboard {head.dashboard_url if head else config.ray.address}")
    console.print(f"stop with: {stop}")


def all_parts(bringup: Bringup) -> list[ClusterPart]:
    """Every part of the bring-up, in the order they are shown."""
    return [
        Machine(bringup),
        Postgres(bringup),
        Schema(bringup),
        Head(bringup),
        BundledModel(bringup),
        SitePart(bringup),
        Runners(bringup),
        DispatcherPart(bringup),
        Agents(bringup),
        SearchIndexPart(bringup),
        *serve_apps(bringup),
        OldApps(bringup),
        OldSchema(bringup),
    ]


def down(config: Config, console: Console) -> None:
    """Stop what `up` started, Ray first, then Postgres. Data stays. Again is harmless.

    Raises:
        ClusterProblem: something would not stop, or a cluster elsewhere can't be reached.
    """
    if not config.data_dir.is_dir():
        console.print("nothing is up")
        return
    with only_one(config.data_dir):
        state = read_state(config.data_dir)
        logging.disable(logging.WARNING)
        if config.ray.address is not None and state.deployed:
            _leave_cluster(config.ray.address, state)
            console.print(f"removed Signoff from the Ray cluster at {config.ray.address}")
        # Also when nothing is recorded: the folder is named after the data, so it is ours.
        for head in {state.ray, local_head(config)} - {None}:
            assert head is not None
            if left := ray.processes(head):
                ray.stop(head)
                console.print(f"stopped Ray at {head.address} ({len(left)} processes)")
        if server.url(config.data_dir) is not None:
            server.stop(config.data_dir)
            console.print("stopped PostgreSQL")
        write_state(config.data_dir, ClusterState())
    console.print(f"down; the data stays in {config.data_dir}")


def _leave_cluster(address: str, state: ClusterState) -> None:
    """Take our applications, runners and agents off a cluster that is not ours to stop."""
    ray.connect(address)
    import ray.serve as ray_serve

    from actors.platform.runtime.directory import stop_agents
    from actors.platform.runtime.pool import stop_dispatcher, stop_runners
    from actors.platform.runtime.site import unpublish

    for name in state.deployed:
        if name in ray_serve.status().applications:
            ray_serve.delete(name)
    stop_runners()
    stop_dispatcher()
    stop_agents()
    unpublish()
