"""A real pgbouncer before the tests' Postgres, on a Unix socket of its own."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest

_FOUND = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
NEEDS_PGBOUNCER = pytest.mark.skipif(
    _FOUND is None, reason="no pgbouncer on this machine: apt-get install pgbouncer"
)


@contextmanager
def pgbouncer(url: str, *, mode: str, **settings: object) -> Iterator[str]:
    """The URL of the database through a pgbouncer in `pool_mode` session, transaction or statement."""
    assert _FOUND is not None
    parts = urlsplit(url)
    (host,), (port,) = (parse_qs(parts.query)[name] for name in ("host", "port"))
    user = parts.netloc.partition("@")[0]
    owner = Path(host).stat()
    folder = Path(tempfile.mkdtemp(prefix="signoff-pooler-", dir="/tmp"))
    given = {
        "pool_mode": mode,
        "auth_type": "any",
        "unix_socket_dir": folder,
        "listen_port": 6432,
        **settings,
    }
    lines = "\n".join(f"{name} = {value}" for name, value in given.items())
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\n* = host={host} port={port} user={user}\n[pgbouncer]\n{lines}\n"
    )
    for path in (folder, folder / "pgbouncer.ini"):
        os.chown(path, owner.st_uid, owner.st_gid)
    identity = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    with subprocess.Popen(
        [_FOUND, str(folder / "pgbouncer.ini")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        **identity,  # type: ignore[call-overload]
    ) as process:
        try:
            told = []
            for line in process.stderr:
                told.append(line)
                if "process up" in line:
                    break
            else:
                raise AssertionError("".join(told))
            yield f"postgresql://{user}@{parts.path}?host={quote(str(folder), safe='')}&port=6432"
        finally:
            process.terminate()
            shutil.rmtree(folder, ignore_errors=True)
