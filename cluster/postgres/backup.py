"""`signoff backup FILE`: the database and what counts beside it, in one file that can be checked.

A tar: `database.dump` (pg_dump's custom format, of one snapshot), the files of the institutional memory
and the finished articles, and last `manifest.json` with digests and row counts. The configuration and
its secrets are not in it. It replaces FILE only when it is whole.
"""

import fcntl
import glob
import hashlib
import io
import os
import stat
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from cluster.folders import ensure_writable
from cluster.parts.plan import Say
from cluster.postgres.tools import Tools, database_url
from cluster.state import only_one
from models.backup import Inventory, Manifest, Member
from models.config import Config
from models.error_lines import error_line
from models.errors import ClusterProblem

DUMP, MANIFEST = "database.dump", "manifest.json"


def folders(config: Config) -> dict[str, Path]:
    """What counts outside the database, by its name in the backup."""
    generation = config.article_generation
    return {
        "memory": generation.institutional_memory.data_dir,
        "articles": generation.editor.output.final_articles_dir,
    }


def back_up(config: Config, target: Path, say: Say) -> Manifest:
    """Write the backup; the site may be at work meanwhile.

    Raises:
        ClusterProblem: the database, a file of the site or FILE can't be reached; FILE is as it was.
    """
    if target.exists() and not target.is_file():
        raise ClusterProblem(f"{target} is no file: give a name in a folder, such as {target}/site.backup")
    ensure_writable(config.data_dir)
    with only_one(config.data_dir):
        return _back_up(config, target, say)


def _back_up(config: Config, target: Path, say: Say) -> Manifest:
    import psycopg

    url = database_url(config)
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    dump = target.with_name(f".{target.name}.{os.getpid()}.dump")
    _clear_remains(target)
    try:
        with _private(draft) as file, tarfile.open(fileobj=file, mode="w") as tar:
            with _private(dump):
                version, inventory = _dump(config, url, dump)
                members = [_add_dump(tar, dump)]
            say(f"database: revision {inventory.revision}, {sum(inventory.rows.values())} rows")
            for name, folder in folders(config).items():
                read = ((path, _content(path)) for path in files_in(folder))
                found = [
                    _add(tar, f"{name}/{path.relative_to(folder)}", content)
                    for path, content in read
                    if content is not None
                ]
                say(f"{name}: {len(found)} files of {folder}")
                members += found
            manifest = Manifest(
                format=1,
                made_at=datetime.now(UTC),
                server_version=version,
                inventory=inventory,
                members=tuple(members),
            )
            _add_bytes(tar, MANIFEST, manifest.model_dump_json(indent=2).encode())
            tar.close()
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except psycopg.Error as error:
        raise ClusterProblem(f"the database can't be read: {error_line(str(error))}") from error
    except OSError as error:
        raise ClusterProblem(f"{error.filename or target}: {error.strerror}: choose another FILE") from error
    finally:
        draft.unlink(missing_ok=True)
        dump.unlink(missing_ok=True)
    say(f"{target}: {target.stat().st_size} bytes, sha256 {digest_of(target)}")
    return manifest


def _clear_remains(target: Path) -> None:
    """Remove the drafts of a backup into FILE that was killed: whoever is at work on one holds its lock."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*"):
        if left.name.removeprefix(f".{target.name}.").removesuffix(".dump").isdigit():
            with suppress(OSError), open(left, "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()


def _dump(config: Config, url: str, file: Path) -> tuple[int, Inventory]:
    """Dump the database and count its rows, both of the same moment."""
    import psycopg

    from models.store.connecting import UNHURRIED, connect
    from models.store.upkeep import inventory

    # Its transaction is idle for as long as the dump takes.
    with connect(url, application="signoff backup", autocommit=False, settings=UNHURRIED) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        version = connection.info.server_version
        snapshot = inventory.snapshot(connection)
        # Before the dump: the dump's own are at these or past them.
        sequences = inventory.sequences(connection)
        tools = Tools(config, server_version=version)
        arguments = ["--format=custom", "--no-owner", "--no-privileges", "--schema=public"]
        tools.run("pg_dump", url, [*arguments, f"--snapshot={snapshot}", f"--file={file}"])
        return version, inventory.take(connection).model_copy(update={"sequences": sequences})


def files_in(folder: Path) -> list[Path]:
    """The ordinary files in it, and in its folders; none where it is not there. Links are not followed.

    Names that begin with a dot are left out: locks, and files that are being written.

    Raises:
        ClusterProblem: a folder can't be listed or entered, so nobody knows what is in it.
    """
    found = []
    for place, inner, names in os.walk(folder, onerror=_refuse_unless_gone):
        inner[:] = [name for name in inner if not name.startswith(".")]
        found += [
            path for name in names if not name.startswith(".") and _is_ordinary(path := Path(place, name))
        ]
    return sorted(found)


def _is_ordinary(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError as error:
        _refuse_unless_gone(error)
        return False


def _refuse_unless_gone(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise _unreadable(error.filename, error) from error


def _unreadable(path: Path | str, error: OSError) -> ClusterProblem:
    return ClusterProblem(
        f"{path}: {error.strerror}: run as a user who can read the site's files, or remove it"
    )


def digest_of(path: Path) -> str:
    """A file's SHA-256."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _content(path: Path) -> bytes | None:
    """A file as it is when it is opened: one that is replaced meanwhile is whole, old or new.

    None where it has been removed since it was listed.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error) from error


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> Member:
    _add_bytes(tar, name, content)
    return Member(name=name, bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def _add_dump(tar: tarfile.TarFile, path: Path) -> Member:
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = os.fstat(file.fileno()).st_size
        file.seek(0)
        _add_stream(tar, DUMP, size, file)
    return Member(name=DUMP, bytes=size, sha256=digest)


def _add_bytes(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    _add_stream(tar, name, len(content), io.BytesIO(content))


def _add_stream(tar: tarfile.TarFile, name: str, size: int, content: Any) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    tar.addfile(entry, content)


@contextmanager
def _private(path: Path) -> Iterator[BinaryIO]:
    """A new file that nobody else may read."""
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield file
