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


def test_workflows_are_counted_by_what_they_came_to(sites: tuple[Config, Config]) -> None:
    one, _ = sites
    url = server.url(one.data_dir)
    assert url is not None
    came = [
        ("publish_article", "succeeded", '{"decision": "rejected"}'),
        ("publish_article", "succeeded", '{"decision": "approved"}'),
        ("research_article", "succeeded", '{"status": "not_enough"}'),
        ("research_article", "succeeded", '{"status": "completed"}'),
        ("research_article", "failed", None),
        ("editorial", "succeeded", '{"status": "not_enough", "decision": "rejected"}'),
        ("publish_article", "waiting", None),
        ("of another release", "succeeded", '{"status": "odd"}'),
    ]
    with psycopg.connect(url, autocommit=True) as connection:
        try:
            for number, (kind, status, result) in enumerate(came):
                connection.execute(
                    """INSERT INTO workflows (id, kind, input, input_digest, requested_by, status, result)
                       VALUES (%s, %s, '{}', '', 'ann', %s, %s)""",
                    (f"counted-{number}", kind, status, result),
                )
            counted = _database(one)["workflows"]
        finally:
            connection.execute("DELETE FROM workflows WHERE id LIKE 'counted-%'")
    assert counted == {"failed": 1, "not_enough": 1, "rejected": 1, "succeeded": 4, "waiting": 1}
