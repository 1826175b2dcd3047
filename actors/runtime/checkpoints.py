"""LangGraph's saver over Postgres: fenced by epoch, and shared by all graphs of a runner.

Graphs hand in checkpoints and writes; up to `lanes` commits are under way at a time, and what arrives
meanwhile goes out together in the next (group commit). A task's writes wait a moment: when its
superstep's checkpoint follows at once, as it does unless other tasks are still running, they are
part of it and need no row. A write whose epoch is over raises Fenced in the graph that made it.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)

from models.errors import Fenced
from models.store import checkpoints as store
from models.store.database import Database

EPOCH = "epoch"  # the key of `configurable` that carries a claim's epoch
_LINGER_SECONDS = 0.003


@dataclass(slots=True)
class _Pending:
    """Rows of one call on their way to a commit, and the future of whoever waits for it."""

    owner: tuple[str, int]
    done: asyncio.Future[None]
    checkpoint: store.CheckpointRow | None = None
    writes: list[store.WriteRow] = field(default_factory=list)


class GroupCommit:
    """Collects rows and commits them in groups. One per process; `start` it inside the event loop."""

    def __init__(self, *, database: Database, lanes: int = 2) -> None:
        self._database = database
        self._lanes = lanes
        self._busy = 0
        self._urgent: list[_Pending] = []
        self._lingering: dict[store.Key, list[_Pending]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def put(self, row: store.CheckpointRow) -> None:
        """Commit a checkpoint; the lingering writes of its parent are part of it and are dropped."""
        pending = self._pending(row.thread_id, row.epoch)
        pending.checkpoint = row
        parent = (row.thread_id, row.checkpoint_ns, row.parent_checkpoint_id or "")
        for writes in self._lingering.pop(parent, []):
            pending.done.add_done_callback(lambda done, writes=writes: _follow(writes, done))  # type: ignore[misc]  # a default binds the loop's value
        self._urgent.append(pending)
        self._kick()
        await pending.done

    async def put_writes(self, rows: list[store.WriteRow]) -> None:
        """Commit a task's writes, unless a checkpoint that holds them comes first."""
        if not rows:
            return
        first = rows[0]
        pending = self._pending(first.thread_id, first.epoch)
        pending.writes = rows
        key = (first.thread_id, first.checkpoint_ns, first.checkpoint_id)
        if all(row.idx < 0 for row in rows):  # an interrupt or an error: nothing will follow it
            self._urgent.append(pending)
            self._kick()
        else:
            self._lingering.setdefault(key, []).append(pending)
            asyncio.get_running_loop().call_later(_LINGER_SECONDS, self._promote, key, pending)
        await pending.done

    def _pending(self, thread_id: str, epoch: int) -> _Pending:
        return _Pending(owner=(thread_id, epoch), done=asyncio.get_running_loop().create_future())

    def _promote(self, key: store.Key, pending: _Pending) -> None:
        waiting = self._lingering.get(key, [])
        if pending in waiting:
            waiting.remove(pending)
            if not waiting:
                del self._lingering[key]
            self._urgent.append(pending)
            self._kick()

    def _kick(self) -> None:
        if self._busy < self._lanes and self._urgent:
            self._busy += 1
            task = asyncio.get_running_loop().create_task(self._drain())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _drain(self) -> None:
        try:
            while self._urgent:
                group, self._urgent = self._urgent, []
                try:
                    written = await self._database.steadily(lambda group=group: self._commit(group))  # type: ignore[misc]  # likewise
                except BaseException as error:
                    for pending in group:
                        _settle(pending, error)
                    if not isinstance(error, Exception):
                        raise
                    continue
                for pending in group:
                    lost = pending.owner not in written
                    _settle(pending, Fenced(_lost(*pending.owner)) if lost else None)
        finally:
            self._busy -= 1
            self._kick()

    async def _commit(self, group: list[_Pending]) -> set[tuple[str, int]]:
        rows = store.Group()
        for pending in group:
            if pending.checkpoint is not None:
                row = pending.checkpoint
                rows.checkpoints[(row.thread_id, row.checkpoint_ns, row.checkpoint_id)] = row
            for write in pending.writes:
                key = (write.thread_id, write.checkpoint_ns, write.checkpoint_id, write.task_id, write.idx)
                rows.writes[key] = write
        return await store.write(self._database, rows)


def _settle(pending: _Pending, error: BaseException | None) -> None:
    if pending.done.done():
        return
    if error is None:
        pending.done.set_result(None)
    else:
        pending.done.set_exception(error)


def _follow(pending: _Pending, leader: asyncio.Future[None]) -> None:
    _settle(pending, asyncio.CancelledError() if leader.cancelled() else leader.exception())


def _lost(workflow_id: str, epoch: int) -> str:
    return f"workflow {workflow_id} is no longer this runner's (epoch {epoch}): nothing was written"


class FencedSaver(BaseCheckpointSaver[str]):
    """The checkpointer that runners compile graphs with.

    Every run's config carries `configurable.thread_id` (the workflow id) and `configurable.epoch`.
    """

    def __init__(self, *, database: Database, commits: GroupCommit) -> None:
        super().__init__()
        self._database = database
        self._commits = commits

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Versions grow and compare as strings."""
        number = int(current.split(".", 1)[0]) if current else 0
        return f"{number + 1:016d}"

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The newest checkpoint of a thread, or the one that `checkpoint_id` names."""
        where = config["configurable"]
        thread_id, ns = where["thread_id"], where.get("checkpoint_ns", "")
        if checkpoint_id := get_checkpoint_id(config):
            row = await self._database.steadily(
                lambda: store.get(
                    self._database, thread_id=thread_id, checkpoint_ns=ns, checkpoint_id=checkpoint_id
                )
            )
        else:
            row = await self._database.steadily(
                lambda: store.latest(self._database, thread_id=thread_id, checkpoint_ns=ns)
            )
        return self._tuple(row) if row else None

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """A thread's checkpoints, newest first; `filter` matches metadata values."""
        if config is None:
            raise ValueError("listing checkpoints takes the config of one thread")
        where = config["configurable"]
        rows = await store.history(
            self._database,
            thread_id=where["thread_id"],
            checkpoint_ns=where.get("checkpoint_ns", ""),
            before=get_checkpoint_id(before) if before else None,
            limit=limit if filter is None else None,
        )
        given = 0
        for row in rows:
            found = self._tuple(row)
            if filter and any(found.metadata.get(key) != value for key, value in filter.items()):
                continue
            if limit is not None and given >= limit:
                return
            given += 1
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Commit a checkpoint. Raises Fenced when the run's epoch is over."""
        where = config["configurable"]
        type_, data = self.serde.dumps_typed(checkpoint)
        await self._commits.put(
            store.CheckpointRow(
                epoch=where[EPOCH],
                thread_id=where["thread_id"],
                checkpoint_ns=where.get("checkpoint_ns", ""),
                checkpoint_id=checkpoint["id"],
                parent_checkpoint_id=where.get("checkpoint_id"),
                type=type_,
                data=data,
                metadata=json.dumps(get_serializable_checkpoint_metadata(config, metadata)).encode(),
            )
        )
        return {
            "configurable": {
                EPOCH: where[EPOCH],
                "thread_id": where["thread_id"],
                "checkpoint_ns": where.get("checkpoint_ns", ""),
                "checkpoint_id": checkpoint["id"],
            }
        }

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Commit a task's writes. Raises Fenced when the run's epoch is over."""
        where = config["configurable"]
        rows = []
        for position, (channel, value) in enumerate(writes):
            type_, data = self.serde.dumps_typed(value)
            rows.append(
                store.WriteRow(
                    epoch=where[EPOCH],
                    thread_id=where["thread_id"],
                    checkpoint_ns=where.get("checkpoint_ns", ""),
                    checkpoint_id=where["checkpoint_id"],
                    task_id=task_id,
                    idx=WRITES_IDX_MAP.get(channel, position),
                    task_path=task_path,
                    channel=channel,
                    type=type_,
                    data=data,
                )
            )
        await self._commits.put_writes(rows)

    def _tuple(self, row: dict[str, Any]) -> CheckpointTuple:
        place = {"thread_id": row["thread_id"], "checkpoint_ns": row["checkpoint_ns"]}
        parent = row["parent_checkpoint_id"]
        checkpoint = self.serde.loads_typed((row["type"], row["data"]))
        writes = [
            (task.decode(), channel.decode(), self.serde.loads_typed((type_.decode(), data)))
            for task, channel, type_, data in row["writes"]
        ]
        return CheckpointTuple(
            config={"configurable": {**place, "checkpoint_id": row["checkpoint_id"]}},
            checkpoint=cast(Checkpoint, checkpoint),
            metadata=json.loads(row["metadata"]),
            parent_config={"configurable": {**place, "checkpoint_id": parent}} if parent else None,
            pending_writes=writes,
        )
