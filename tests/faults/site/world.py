"""The world of a campaign: Postgres behind a proxy, a model, a webhook's target, pages, the site's processes.

All of it on loopback, in a folder of its own, and gone with the block. What was done to it is noted, so that
the checks know which step had a reason to be begun again.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from cluster.postgres import server as embedded
from models.config import Config
from models.store import webhooks
from models.store.database import GONE, Database
from models.store.schema.migrate import migrate
from models.webhooks.records import NewWebhook
from tests.fakes.model.model_server import ModelServer
from tests.fakes.outside.page_site import PageSite, serving
from tests.faults.disturbances import HINDERED, HINDERS, Disturbance
from tests.faults.site.books import BOOKS, PLANS, BookServer
from tests.faults.site.configuring import LEASE_SECONDS, configure
from tests.faults.site.driver import exit_file
from tests.faults.site.kinds import Trace
from tests.faults.site.nursery import Nursery
from tests.faults.site.pages import FINDS, NEVER_READ
from tests.faults.site.proxy import Proxy
from tests.faults.site.roles import Order
from tests.faults.site.starved import Starved
from tests.faults.site.target import Target
from tests.ports import free_port

RUNNERS = ("north:runner:0", "north:runner:1", "south:runner:0")  # two sites on one database
_TICK_SECONDS, _STALL_SECONDS = 0.05, 0.4


class World:
    """Made by `open_world`."""

    def __init__(self, folder: Path, *, defect: int | None) -> None:
        self.folder = folder
        self.output = folder / "output"
        self.trace = Trace(folder / "trace")
        self.port = free_port()
        self.disturbances: list[Disturbance] = []
        self.proxy: Proxy
        self.model: ModelServer
        self.target: Target
        self.pages: PageSite
        self.never: PageSite
        self.library: PageSite
        self.books: dict[str, BookServer]
        self.nursery: Nursery
        self.database: Database
        self.config: Config
        self._defect = defect
        # Faults under way that may make a lease late, and when the last of them ended.
        self._hindering = 0
        self._hindered_until = 0.0
        self._orders: dict[str, Order] = {}
        self._pids: dict[str, int] = {}
        self._postgres = folder / "postgres-0"

    @property
    def socket(self) -> Path:
        """The folder of the server's socket, wherever the server is now."""
        return self.folder / "socket"

    @property
    def direct_url(self) -> str:
        """Postgres as the campaign itself sees it."""
        return f"postgresql://postgres@/signoff?host={self.socket}&port=5432"

    @property
    def site_url(self) -> str:
        """Postgres as the site sees it: through the proxy."""
        return f"postgresql://postgres@127.0.0.1:{self.proxy.port}/signoff?sslmode=disable&gssencmode=disable"

    def start_postgres(self) -> None:
        """Start the server, and point the socket at it."""
        self._postgres.mkdir(exist_ok=True)
        embedded.start(self._postgres)
        draft = self.folder / "socket.new"
        draft.unlink(missing_ok=True)
        draft.symlink_to(self._postgres / "postgres")
        draft.replace(self.socket)

    def stop_postgres(self) -> None:
        """Stop it as an administrator does."""
        embedded.stop(self._postgres)

    def kill_postgres(self) -> None:
        """Kill it as a machine does that loses its power, less the power."""
        lines = (self._postgres / "postgres/postmaster.pid").read_text().splitlines()
        os.kill(int(lines[0]), signal.SIGKILL)

    def fail_over(self) -> None:
        """Stop the server, and go on with a copy of it in another place."""
        self.stop_postgres()
        old = self._postgres
        number = int(old.name.rpartition("-")[2]) + 1
        self._postgres = self.folder / f"postgres-{number}"
        subprocess.run(["cp", "-a", str(old), str(self._postgres)], check=True)
        self.start_postgres()
        shutil.rmtree(old, ignore_errors=True)

    def start(self, name: str, *, release: int | None = None) -> int:
        """Start the process of a name, of its last release unless another is said; its id."""
        order = self._orders[name]
        if release is not None:
            order = self._orders[name] = replace(order, release=release)
        self._pids[name] = self.nursery.start(order)
        return self._pids[name]

    def submit(
        self, name: str, topics: Path, *, role: Literal["driver", "knowledge_driver"] = "driver"
    ) -> None:
        """Let there be a batch's driver over a folder of topics, until it has ended by itself; also again."""
        exit_file(topics).unlink(missing_ok=True)
        self._orders[name] = Order(
            role=role,
            name=name,
            config=str(self.folder / "config.yaml"),
            url=self.site_url,
            log=str(self.folder / "drivers.log"),
            defect=self._defect,
            topics=str(topics),
        )
        self.start(name)

    def pid(self, name: str) -> int | None:
        """The process of a name, if it lives."""
        pid = self._pids.get(name)
        return pid if pid is not None and _lives(pid) else None

    def logs(self) -> dict[int, Path]:
        """The log of each process that lives."""
        living = {pid: order for name, order in self._orders.items() if (pid := self.pid(name))}
        return {pid: Path(order.log) for pid, order in living.items()}

    def pid_of(self, owner: str) -> int | None:
        """The process that a connection is of, by its name in Postgres, if that lives."""
        return self.pid(owner.removeprefix("signoff "))

    def release(self, name: str) -> int:
        """The release of a name's process."""
        return self._orders[name].release

    def add(self, name: str, like: str) -> None:
        """Let there be one more runner, like another and under its name."""
        self._orders[name] = replace(
            self._orders[like], name=name, called=like, log=str(self.folder / "extra.log")
        )

    def drop(self, name: str) -> None:
        """Let there be none of that name again."""
        self._orders.pop(name)
        self._pids.pop(name, None)

    @property
    def drivers(self) -> list[str]:
        """The batches' drivers that there should be."""
        return [name for name, order in self._orders.items() if not self.is_over(name) and order.topics]

    def is_over(self, name: str) -> bool:
        """Whether it is a driver that has ended by itself."""
        topics = self._orders[name].topics
        return bool(topics) and exit_file(Path(topics)).exists()

    def revive(self, name: str) -> None:
        """Start a process again that is dead and should not be."""
        if self.pid(name) is None and not self.is_over(name):
            self.start(name)

    def ensure(self) -> None:
        """Start whatever is dead, as a supervisor does."""
        for name in self._orders:
            self.revive(name)

    def note(self, kind: str, start: float, *, pid: int | None = None, after: float = 0.5) -> None:
        """Note what was done since `start`; its effect lasts a little longer."""
        self.disturbances.append(Disturbance(kind, start, time.time() + after, pid))

    @contextlib.contextmanager
    def under(self, fault: str) -> Iterator[None]:
        """A fault is under way: while some are, a lease may be renewed late."""
        began = time.time()
        self._hindering += fault in HINDERS
        try:
            yield
        finally:
            if fault in HINDERS:
                self._hindering -= 1
                self._hindered_until = time.time() + LEASE_SECONDS
                self.note(HINDERED, began, after=LEASE_SECONDS)

    async def heal(self) -> None:
        """End what still disturbs."""
        for name in self._orders:
            if pid := self.pid(name):
                os.kill(pid, signal.SIGCONT)
        await asyncio.to_thread(self.model.reset)
        self.ensure()

    async def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        """What a query finds, however long Postgres is away meanwhile."""

        async def ask() -> list[dict[str, Any]]:
            async with self.database.connection() as connection:
                return await (await connection.execute(query.encode(), values)).fetchall()

        return await self.database.steadily(ask)

    async def watch_leases(self) -> None:
        """Note whose lease comes near its end while a fault hinders its renewal, or no processor was free.

        Else it is no reason: a runner that renews late by itself is to be found.
        """
        starved = Starved()
        while True:
            starved.look(pid for name in RUNNERS if (pid := self.pid(name)))
            with contextlib.suppress(*GONE):
                now = time.time()
                query = "SELECT pid FROM runners WHERE lease_until < now() + interval '0.3 seconds'"
                async with self.database.connection() as connection:
                    late = await (await connection.execute(query.encode())).fetchall()
                hindered = self._hindering or now < self._hindered_until
                for row in late:
                    if hindered or starved.seconds(row["pid"]) > _STALL_SECONDS:
                        self.disturbances.append(Disturbance("late lease", now - 1, now + 1, row["pid"]))
            await asyncio.sleep(0.15)

    def watch_machine(self, over: threading.Event) -> None:
        """Note when the machine itself stood still: no process can help it."""
        before = time.monotonic()
        while not over.wait(_TICK_SECONDS):
            lost = time.monotonic() - before - _TICK_SECONDS
            if lost > _STALL_SECONDS:
                self.note("stall", time.time() - lost, after=LEASE_SECONDS)
            before = time.monotonic()


@asynccontextmanager
async def open_world(*, defect: int | None = None) -> AsyncIterator[World]:
    """A world with everything up. `defect`: put back in its processes."""
    folder = Path(tempfile.mkdtemp(prefix="signoff-faults-", dir="/tmp"))
    folder.chmod(0o755)
    world = World(folder, defect=defect)
    try:
        async with AsyncExitStack() as stack:
            world.start_postgres()
            stack.callback(world.stop_postgres)
            await asyncio.to_thread(migrate, world.direct_url)
            _mount(world, stack)
            world.proxy = await stack.enter_async_context(Proxy(world.socket))
            world.model = stack.enter_context(ModelServer())
            await asyncio.to_thread(world.model.script, *FINDS, PLANS)
            world.pages = stack.enter_context(serving({}))
            world.never = stack.enter_context(serving({}, address=NEVER_READ))
            world.library = stack.enter_context(serving({}))
            world.books = {name: stack.enter_context(BookServer(name)) for name in BOOKS.values()}
            world.target = await stack.enter_async_context(Target())
            world.config = configure(folder, world.output, world.model.base_url, world.books)
            world.database = await stack.enter_async_context(
                Database(url=world.direct_url, pool_size=6, application="campaign")
            )
            world.nursery = stack.enter_context(Nursery())
            await _make_webhooks(world)
            for role, name in (
                *(("runner", r) for r in RUNNERS),
                ("dispatcher", "dispatcher"),
                ("api", "api"),
            ):
                world._orders[name] = Order(
                    role=role,  # type: ignore[arg-type]
                    name=name,
                    config=str(folder / "config.yaml"),
                    url=world.site_url,
                    log=str(folder / f"{name.replace(':', '-')}.log"),
                    defect=defect,
                    port=world.port,
                )
            world.ensure()
            watching = asyncio.create_task(world.watch_leases())
            stack.callback(watching.cancel)
            over = threading.Event()
            stack.callback(over.set)
            threading.Thread(target=world.watch_machine, args=(over,), daemon=True).start()
            yield world
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _mount(world: World, stack: AsyncExitStack) -> None:
    """A small file system for the output, where we may mount one: it can be filled."""
    world.output.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(world.output)]
    if os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0:
        unmount = ["umount", "-l", str(world.output)]
        stack.callback(lambda: subprocess.run(unmount, capture_output=True, check=False))


async def _make_webhooks(world: World) -> None:
    async with world.database.transaction() as connection:
        for event in ("approval_required", "article_published", "article_rejected"):
            new = NewWebhook.model_validate(
                {
                    "name": event,
                    "event_type": event,
                    "url": world.target.url,
                    "max_retries": 50,
                    "retry_delay_seconds": 0.1,
                }
            )
            await webhooks.create(connection, new, secret="x" * 32, created_by="root")


def _lives(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[0] not in (b"Z", b"X")
