"""Files that tell of ended workflows say what is settled, whoever writes them and however late."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from actors.platform.runtime import projection
from actors.platform.runtime.projection import Projector
from actors.platform.runtime.workflow_graph import WorkflowGraph
from models.config import Config
from models.runtime.workflows import Workflow
from models.store import events
from models.store.database import Database
from models.store.runtime import projections, workflows
from models.versioned_files import VersionedFiles
from tests.fakes import graphs
from tests.fakes.barrier import Barrier
from tests.integration.runtime.journals.carrying import carry, look
from tests.integration.workflows import begin

Configure = Callable[..., Config]


class Disk:
    """A file for each key, of a workflow and its status; a writer may be paused before he makes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.full_for: set[str] = set()
        self.tried: list[str] = []
        self.pauses: list[Callable[[], Any]] = []

    async def project(self, config: Config, workflow: Workflow, kept: dict[str, Any]) -> dict[Path, str]:
        """What is to be written."""
        self.tried.append(workflow.id)
        if self.pauses:
            await self.pauses.pop()()
        if workflow.id in self.full_for:
            raise OSError(28, "No space left on device")
        return {self.folder / (workflow.key or workflow.id): f"{workflow.id} {workflow.status}"}

    @property
    def written(self) -> dict[str, str]:
        """All that is there, by name; what nobody needs any more is not."""
        return {path.name: path.read_text() for path in self.folder.iterdir()}

    @property
    def kind(self) -> WorkflowGraph:
        """Steps whose end is written here."""
        return WorkflowGraph(
            build=graphs.build_steps, begin=graphs.begin, result=graphs._result, project=self.project
        )


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    """An empty one."""
    return Disk(tmp_path / "disk")


def paused_after_its_look(monkeypatch: pytest.MonkeyPatch, *meanwhile: Callable[[], Awaitable[None]]) -> None:
    """Have the first writers pause right after they have seen that what they write is settled."""
    stands, left = projections.stands, list(meanwhile)

    async def slowly(database: Database, workflow_id: str, *, epoch: int) -> bool:
        answer = await stands(database, workflow_id, epoch=epoch)
        if left:
            await left.pop(0)()
        return answer

    monkeypatch.setattr(projections, "stands", slowly)


class Killed(BaseException):
    """The writer is dead."""


async def begin_again(database: Database, workflow_id: str) -> None:
    """Retry a workflow that failed; it will succeed."""
    async with database.transaction() as connection:
        await connection.execute("UPDATE workflows SET input = input - 'fail'")
        await workflows.retry(connection, workflow_id)


@pytest.mark.parametrize("other_writes", [False, True])
async def test_a_writer_that_was_paused_corrects_itself(
    database: Database, configure: Configure, disk: Disk, other_writes: bool
) -> None:
    """It had read that the workflow failed; meanwhile that was begun again, and another may have written."""
    config = configure()
    with Barrier() as barrier:
        workflow = await begin(database, barrier, fail="two")
        await carry(database, config, disk.kind)
        assert (await look(database, workflow.id)).projection_due

        async def meanwhile() -> None:
            await begin_again(database, workflow.id)
            await carry(database, config, disk.kind)
            if other_writes:
                await Projector(config=config, database=database).project(workflow.id, disk.kind)

        disk.pauses.append(meanwhile)
        await Projector(config=config, database=database).project(workflow.id, disk.kind)
        after = await look(database, workflow.id)
    assert disk.written == {workflow.id: f"{workflow.id} succeeded"}
    assert (after.status, after.projection_due) == ("succeeded", False)


async def test_a_writer_that_was_paused_after_its_look_puts_nothing_over_what_is_newer(
    database: Database, configure: Configure, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does it have to put anything right: it is killed as soon as it would have written."""
    config = configure()
    with Barrier() as barrier:
        workflow = await begin(database, barrier, fail="two")
        await carry(database, config, disk.kind)

        async def meanwhile() -> None:
            await begin_again(database, workflow.id)
            await carry(database, config, disk.kind)
            await Projector(config=config, database=database).project(workflow.id, disk.kind)

        paused_after_its_look(monkeypatch, meanwhile)
        keep = VersionedFiles.keep

        def kept(self: VersionedFiles) -> bool:
            if keep(self) and "succeeded" in (disk.folder / workflow.id).read_text():
                return True
            raise Killed

        monkeypatch.setattr(VersionedFiles, "keep", kept)
        with pytest.raises(Killed):
            await Projector(config=config, database=database).project(workflow.id, disk.kind)
        after = await look(database, workflow.id)
    assert disk.written == {workflow.id: f"{workflow.id} succeeded"}
    assert (after.status, after.projection_due) == ("succeeded", False)


@pytest.mark.parametrize("paused", [False, True])
async def test_the_newest_of_a_key_owns_the_files(
    database: Database, configure: Configure, disk: Disk, paused: bool
) -> None:
    """The older one is written late: never over the newer, or that one is written once more."""
    config = configure()
    with Barrier() as barrier:
        older, newer = [(await begin(database, barrier)).id for _ in range(2)]
    projector = Projector(config=config, database=database)

    async def settle(workflow_id: str) -> None:
        async with database.connection() as connection:
            await connection.execute(
                """UPDATE workflows SET status = 'succeeded', result = '{}', key = 'k', projection_due = true,
                          finished_at = now() WHERE id = %s""",
                (workflow_id,),
            )

    async def newer_ends() -> None:
        await settle(newer)
        await projector.project(newer, disk.kind)

    await settle(older)
    if paused:
        disk.pauses.append(newer_ends)
    else:
        await newer_ends()
    await projector.project(older, disk.kind)
    await projector.sweep({"steps": disk.kind})
    assert disk.written == {"k": f"{newer} succeeded"}
    assert not (await look(database, older)).projection_due
    assert not (await look(database, newer)).projection_due


async def test_files_that_can_t_be_written_hold_up_no_others(
    database: Database, configure: Configure, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projection, "_FIRST_PAUSE_SECONDS", 60.0)  # however slow the machine is
    config = configure()
    with Barrier() as barrier:
        made = [(await begin(database, barrier)).id for _ in range(21)]
    disk.full_for = set(made[:20])
    async with database.connection() as connection:
        for number, workflow_id in enumerate(made):
            await connection.execute(
                """UPDATE workflows SET status = 'succeeded', projection_due = true, result = '{}',
                          finished_at = now() - make_interval(secs => %s) WHERE id = %s""",
                (100 - number, workflow_id),
            )
    projector = Projector(config=config, database=database)
    for _ in range(2):
        await projector.sweep({"steps": disk.kind})
    assert list(disk.written) == [made[20]]
    assert len(disk.tried) == 21
    async with database.connection() as connection:
        told = [event for event in await events.read(connection, after=0) if "delayed" in event.type]
    assert sorted(event.workflow_id or "" for event in told) == sorted(made[:20])
    assert {event.data["reason"] for event in told} == {"OSError: [Errno 28] No space left on device"}
    disk.full_for.clear()
    await Projector(config=config, database=database).sweep({"steps": disk.kind})
    assert set(disk.written) == set(made)
