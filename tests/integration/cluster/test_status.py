"""`signoff status` on a database of this release and on one whose tables are another's."""

import psycopg
import pytest

from cluster.postgres import server
from cluster.status import _database
from models.config import Config
from models.errors import ClusterProblem
from models.store.schema.migrate import migrate


def test_tables_of_another_release_are_a_problem_and_no_trace(
    sites: tuple[Config, Config],
) -> None:
    one, two = sites
    found = _database(one)
    assert (found["workflows"], found["parked"]) == ({}, ())
    with pytest.raises(ClusterProblem, match="no tables yet"):
        _database(two)
    url = server.url(two.data_dir)
    assert url is not None
    migrate(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER TABLE workflows DROP COLUMN parked_since")
    with pytest.raises(ClusterProblem, match=r"can't be read: column .parked_since.*signoff up"):
        _database(two)
