"""The parts of the bring-up that change the database's tables: first what is new, last what is not needed.

In between, runners and replicas are replaced one after the other, so those of the last release work on
the new tables for a while. They read events and never move them to their place: that is done here then.
"""

import asyncio
import contextlib
import threading

from cluster.bringup import Bringup
from cluster.parts.plan import Say
from models.errors import ClusterProblem

_MOVE_SECONDS = 0.3


class Schema:
    """This release's tables, and in them the tonalities that the prompt files hold."""

    name = "schema"
    after = ("database",)

    def __init__(self, bringup: Bringup) -> None:
        self._bringup = bringup

    def check(self) -> str | None:
        """Nothing to look at: migrating a migrated database is quick and changes nothing."""
        return None

    def repair(self, say: Say) -> str:
        """Add what is new. Raises ClusterProblem where a restore was broken off: the tables are not ours."""
        from models.store.schema.migrate import migrate
        from models.store.upkeep import inventory

        url = self._bringup.database_url
        refuse_broken_off(inventory.left_aside_at(url))
        migrate(url, "before")
        threading.Thread(target=lambda: asyncio.run(_move_on(url)), name="events", daemon=True).start()
        asyncio.run(self._take_in_tonalities())
        return "migrated"

    async def _take_in_tonalities(self) -> None:
        from models.store.content import prompts
        from models.store.database import Database

        folder = self._bringup.config.publishing.prompts_dir / "tonalities"
        database = Database(url=self._bringup.database_url, pool_size=1)
        async with database, database.transaction() as connection:
            await prompts.take_in_tonalities(connection, folder)


class OldSchema:
    """What only the last release used: taken away once nothing of it runs any more."""

    name = "old schema"
    after = ("runners", "dispatcher", "search index", "api")

    def __init__(self, bringup: Bringup) -> None:
        self._bringup = bringup

    def check(self) -> str | None:
        """Nothing to look at, as with the schema."""
        return None

    def repair(self, say: Say) -> str:
        """Take it away."""
        from models.store.schema.migrate import migrate

        migrate(self._bringup.database_url, "after")
        return "cleared"


def refuse_broken_off(aside: list[str]) -> None:
    """Say how to end a restore that was killed, if there is one: what was there before is the truth or not.

    Raises:
        ClusterProblem: `aside` names schemas that hold it.
    """
    if aside:
        [name, *_] = aside
        raise ClusterProblem(
            f"a restore was broken off, and what was there before it is in the schema {name}: bring it back "
            f"with `DROP SCHEMA public CASCADE; ALTER SCHEMA {name} RENAME TO public` in psql, or forget it "
            f"with `DROP SCHEMA {name} CASCADE`"
        )


async def _move_on(url: str) -> None:
    """Give events their place as long as this command runs; what can't be reached is tried again."""
    from models.store import events
    from models.store.database import GONE, Database

    async with Database(url=url, pool_size=1) as database:
        while True:
            with contextlib.suppress(*GONE):
                async with database.connection() as connection:
                    await events.move(connection)
            await asyncio.sleep(_MOVE_SECONDS)
