"""`pg_dump` and `pg_restore`: which ones, and how they are run.

For Postgres of the wheel its own; for another server those on the PATH, which must not be older than it.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cluster.postgres import server
from cluster.postgres.system_user import binaries
from models.config import Config
from models.database_url import SECRET_PARAMETERS
from models.errors import ClusterProblem
from models.redaction import redacted


class Tools:
    """The programs for one database. Raises ClusterProblem where they are missing or too old."""

    def __init__(self, config: Config, *, server_version: int) -> None:
        self._ours = config.database.url is None
        for program in ("pg_dump", "pg_restore"):
            major = self._major(program)
            if major < server_version // 10_000:
                raise ClusterProblem(
                    f"{program} on the PATH is of PostgreSQL {major}, the server of "
                    f"{server_version // 10_000}: install that release's client programs"
                )

    def run(self, program: str, url: str, arguments: list[str]) -> None:
        """Run it on a database. No secret is in its arguments, which show in `ps`.

        They connect as we do, and set for themselves how long a statement may take.
        """
        from psycopg.conninfo import make_conninfo

        parts, secrets = _parts_of(url, program)
        with (
            _told_secretly(secrets) as environment,
            subprocess.Popen(
                [
                    str(self._path(program)),
                    f"--dbname={make_conninfo('', **parts)}",
                    "--no-password",
                    *arguments,
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={**_as_ours(), "LC_ALL": "C", **environment},
                text=True,
                errors="replace",
            ) as process,
        ):
            try:
                _, told = process.communicate()
            except BaseException:
                _end(process)
                raise
        if process.returncode != 0:
            said = [line for line in redacted(told).splitlines() if line.strip()] or ["it gave no reason"]
            raise ClusterProblem(f"{program} failed: {said[0]}")

    def _path(self, program: str) -> Path:
        if self._ours:
            return binaries() / program
        found = shutil.which(program)
        if found is None:
            raise ClusterProblem(
                f"{program} is not on the PATH: install PostgreSQL's client programs, of the server's release"
            )
        return Path(found)

    def _major(self, program: str) -> int:
        """18, as in `pg_dump (PostgreSQL) 18.4 (Debian …)`."""
        said = subprocess.run(
            [str(self._path(program)), "--version"], capture_output=True, text=True, check=False
        ).stdout
        version = said.partition(") ")[2].partition(".")[0].partition(" ")[0]
        digits = "".join(letter for letter in version if letter.isdigit())
        if not digits:
            raise ClusterProblem(f"{program} --version says {said.strip()!r}: is it PostgreSQL's?")
        return int(digits)


def _as_ours() -> dict[str, str]:
    """What libpq reads of this process's environment, for it to connect as we did, and where programs are."""
    return {
        name: value
        for name, value in {"PATH": os.defpath, **os.environ}.items()
        if name in ("PATH", "HOME", "KRB5CCNAME") or name.startswith("PG")
    }


def _parts_of(url: str, program: str) -> tuple[dict[str, str], dict[str, str]]:
    """What a connection is made with, and what of it nobody may see."""
    from models.store.session import connection_parameters

    parts = {key: str(value) for key, value in connection_parameters(url, application=program).items()}
    return parts, {key: parts.pop(key) for key in SECRET_PARAMETERS & set(parts)}


@contextmanager
def _told_secretly(secrets: dict[str, str]) -> Iterator[dict[str, str]]:
    """The environment that tells libpq: it has a variable for the password, and files for all else."""
    environment = {"PGPASSWORD": secrets["password"]} if "password" in secrets else {}
    others = {key: value for key, value in secrets.items() if key != "password"}
    if not others:
        yield environment
        return
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="signoff-") as file:  # 0600
        file.write("\n".join(["[signoff]", *(f"{key}={value}" for key, value in others.items()), ""]))
        file.flush()
        yield {**environment, "PGSERVICEFILE": file.name, "PGSERVICE": "signoff"}


def _end(process: "subprocess.Popen[str]") -> None:
    """Asked to end, it tells the server to stop what it does for it; one that is killed leaves that going."""
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()


def database_url(config: Config, *, start: bool = False) -> str:
    """Where the site's database is; ours is started where `start`. Raises ClusterProblem."""
    if config.database.url is not None:
        return config.database.url.get_secret_value()
    found = server.start(config.data_dir) if start else server.url(config.data_dir)
    if found is None:
        raise ClusterProblem("the database does not run: run `signoff up`")
    return found
