"""One database for all properties of operations: each example begins an operation of its own in it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from models.store.database import Database
from tests.integration.conftest import configuration, fresh_database
from tests.integration.operations.operations_desk import operations_config
from tests.integration.operations.properties.played_operation import House

# Every way to stop: at the plan, at each agent's result, at the results.
TASK_TYPES = {
    "comprehensive": {"gates": ["plan", "results"]},
    "reviewed": {"gates": ["plan", "agents", "results"]},
    "stepwise": {"gates": ["agents"]},
    "unattended": {"gates": []},
    "planned": {"gates": ["plan"]},
    "planned_stepwise": {"gates": ["plan", "agents"]},
    "checked": {"gates": ["results"]},
    "checked_stepwise": {"gates": ["agents", "results"]},
}


@pytest.fixture(scope="session")
def house(postgres: str, migrated: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Where operations are played."""
    folder: Path = tmp_path_factory.mktemp("operations")
    url = fresh_database(postgres, migrated)
    config = operations_config(
        lambda changes: configuration(folder, changes),
        **{
            "operations.task_types": TASK_TYPES,
            "operations.away_seconds": 0.06,
            "tools.rate_limit": {"calls": 1_000_000, "per_seconds": 60},
            "runners.max_attempts": 60,
        },
    )
    with asyncio.Runner() as runner:
        database = Database(url=url, pool_size=4)
        runner.run(database.__aenter__())
        try:
            yield House(runner, config, database)
        finally:
            runner.run(database.__aexit__())
