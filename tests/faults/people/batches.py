"""Batches in the campaign: folders of topics, submitted, again when a driver dies, and looked at."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.runtime.workflows import ENDED_STATUSES
from models.store import events
from pipelines.topics import TopicRow
from tests.faults.site.driver import crash_file, exit_file, read_topics, unwritten_file
from tests.faults.site.world import World
from tests.integration.editorial.newsroom import SOURCE


@dataclass(frozen=True)
class Batch:
    """A folder of topics that was submitted; `name` is its driver's."""

    name: str
    topics: Path
    rows: tuple[TopicRow, ...]

    @property
    def keys(self) -> list[str]:
        """The keys of its topics' workflows."""
        return [row.key for row in self.rows]


def topic_of(slug: str) -> dict[str, Any]:
    """A topic, as its file has it."""
    source = dict.fromkeys(("source_file", "channel_name", "video_id", "video_title"), "mill")
    return {
        "source_text": f"{SOURCE} This is about {slug}.",
        "source_metadata": {**source, "publish_date": None, "topic_slug": slug, "topic_title": slug},
        "style_mode": "SCIAM_MAGAZINE",
        "target_length_words": "900-1200",
    }


def submit(world: World, name: str, slugs: list[str]) -> Batch:
    """Write the topics' files, and start a driver over them."""
    topics = world.folder / "topics" / name
    topics.mkdir(parents=True)
    for slug in slugs:
        (topics / f"{slug}.json").write_text(json.dumps(topic_of(slug)), encoding="utf-8")
    world.submit(f"driver:{name}", topics)
    return Batch(f"driver:{name}", topics, tuple(read_topics(topics, world.config)))


async def workflows_of(world: World, batch: Batch) -> list[dict[str, Any]]:
    """The workflows of its topics, the newest last."""
    return await world.rows(
        "SELECT id, key, status, result FROM workflows WHERE key = ANY(%s) ORDER BY created_at", batch.keys
    )


async def check(world: World, batch: Batch) -> list[str]:
    """What is wrong with a batch whose driver has ended: each topic ended once, and the driver says so."""
    if crash_file(batch.topics).exists():
        return [f"{batch.name} died: {crash_file(batch.topics).read_text(encoding='utf-8').strip()}"]
    if not exit_file(batch.topics).exists():
        return [f"{batch.name} has not ended"]
    code = exit_file(batch.topics).read_text(encoding="utf-8")
    found = await workflows_of(world, batch)
    full = unwritten_file(batch.topics).exists()
    return list(ended(batch.keys, found, code, name=batch.name, full=full))


def ended(
    keys: Sequence[str], found: Sequence[Mapping[str, Any]], code: str, *, name: str, full: bool = False
) -> Iterator[str]:
    """Each topic of a batch has ended once, unless it was stopped, and the exit code says how.

    Args:
        keys: of its topics.
        found: the workflows of these keys, the newest last: key, status and result.
        code: what its driver came to.
        full: there was no room for its summary, which is told by 1, too.
    """
    passed = True
    for key in keys:
        mine = [w for w in found if w["key"] == key]
        statuses = [w["status"] for w in mine]
        over = [status for status in statuses if status in ENDED_STATUSES and status != "cancelled"]
        if not mine or len(over) > 1 or (not over and statuses[-1] != "cancelled"):
            yield f"topic {key} of {name} is {statuses}"
        passed &= bool(mine) and (mine[-1]["result"] or {}).get("outcome") == "passed"
    if code != ("0" if passed and not full else "1"):
        yield f"{name} ended with {code}: {[w['status'] for w in found]}"


async def trail(world: World, batch: Batch) -> list[dict[str, Any]]:
    """All that has happened to its topics: what is submitted again after its end adds nothing."""
    async with world.database.connection() as connection:
        await events.move(connection)  # what nobody has read yet has no place among them
    return await world.rows(
        "SELECT e.id, e.type FROM events e JOIN workflows w ON w.id = e.workflow_id"
        " WHERE w.key = ANY(%s) ORDER BY e.id",
        batch.keys,
    )
