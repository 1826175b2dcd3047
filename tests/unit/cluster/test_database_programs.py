"""`pg_dump` and `pg_restore`: no secret is in their arguments, nor in what is said of them."""

import json
from pathlib import Path

import pytest

from cluster.postgres.backup import back_up
from cluster.postgres.tools import Tools, database_url
from models.config import Config
from models.errors import ClusterProblem
from tests.unit.cluster.test_backup_files import elsewhere, no_word  # noqa: F401  # a fixture

_PROGRAM = """#!/usr/bin/env python3
import json, os, sys
if sys.argv[1:] == ["--version"]:
    print("pg_dump (PostgreSQL) 18.4")
    sys.exit()
service = os.environ.get("PGSERVICEFILE")
names = ("PGSSLROOTCERT", "PGPASSFILE", "HOME", "SIGNOFF_OTHER", "LC_ALL")
environment = {name: os.environ.get(name) for name in names}
told = {"arguments": sys.argv[1:], "password": os.environ.get("PGPASSWORD"), "service": None}
told["environment"] = environment
if service:
    told["mode"] = oct(os.stat(service).st_mode & 0o777)
    told["service"] = open(service).read()
    told["name"] = os.environ["PGSERVICE"]
open(os.path.join(os.path.dirname(sys.argv[0]), "told.json"), "w").write(json.dumps(told))
sys.exit("pg_dump: error: connection to postgresql://ann:" + told["password"] + "@h failed")
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the PATH with programs that tell how they were run."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("pg_dump", "pg_restore"):
        (folder / name).write_text(_PROGRAM)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin:/usr/local/bin")
    return folder


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg"])
def test_no_secret_shows_in_ps_or_in_what_it_said(
    elsewhere: Config,  # noqa: F811
    programs: Path,
    scheme: str,
) -> None:
    url = f"{scheme}://ann:p%40ss%2Fw%27rd@db.internal/site?sslpassword=of%20the%20key&sslmode=require"
    tools = Tools(elsewhere, server_version=180004)
    with pytest.raises(ClusterProblem) as failed:
        tools.run("pg_dump", url, ["--format=custom"])
    told = json.loads((programs / "told.json").read_text())
    assert told["password"] == "p@ss/w'rd"
    assert (told["name"], told["service"], told["mode"]) == (
        "signoff", "[signoff]\nsslpassword=of the key\n", "0o600",
    )  # fmt: skip
    line = " ".join(told["arguments"])
    assert "host=db.internal" in line
    assert "user=ann" in line
    assert "--format=custom" in line
    for secret in ("p@ss", "p%40ss", "w'rd", "of the key", "of%20"):
        assert secret not in line
        assert secret not in str(failed.value)
    assert str(failed.value) == "pg_dump failed: pg_dump: error: connection to postgresql://ann:***@h failed"


def test_they_connect_by_what_libpq_reads_of_our_environment(
    elsewhere: Config,  # noqa: F811
    programs: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = {"PGSSLROOTCERT": "/run/ca.pem", "PGPASSFILE": "/run/pass", "HOME": "/srv"}
    for name, value in {**given, "SIGNOFF_OTHER": "x", "LC_ALL": "pl_PL", "PGPASSWORD": "another"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ClusterProblem):
        Tools(elsewhere, server_version=180004).run("pg_dump", "postgresql://ann:hunter2x9@h/site", [])
    told = json.loads((programs / "told.json").read_text())
    assert told["environment"] == {**given, "SIGNOFF_OTHER": None, "LC_ALL": "C"}
    assert told["password"] == "hunter2x9"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://ann:hunter2x9@127.0.0.1:1/site",
        "postgresql://ann:hunter2x9@127.0.0.1:1/site",
        "host=127.0.0.1 port=1 user=ann password=hunter2x9",
        "postgresql+psycopg://ann:hun/ter2x9@127.0.0.1:1/site",
    ],
)
def test_a_backup_that_fails_tells_no_password(
    elsewhere: Config,  # noqa: F811
    tmp_path: Path,
    url: str,
) -> None:
    database = elsewhere.database.model_validate({**elsewhere.database.model_dump(), "url": url})
    config = elsewhere.model_copy(update={"database": database})
    assert "127.0.0.1" in database_url(config)
    with pytest.raises(ClusterProblem) as failed:
        back_up(config, tmp_path / "site.backup", no_word)
    assert "Connection refused" in str(failed.value)
    assert "ter2x9" not in str(failed.value)
