"""`signoff restore FILE`: a backup into an empty database, and a word on each thing that was checked.

Everything is checked before anything is changed, and compared with the manifest afterwards. What is
replaced, tables and folders, is put aside first and put back when something is not as it should be. Of a
restore that is killed, what was put aside stays, and `up` and `restore` say so.
"""

import errno
import glob
import hashlib
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from pydantic import ValidationError

from cluster.folders import ensure_writable
from cluster.parts.plan import Say
from cluster.parts.schema import refuse_broken_off
from cluster.plain_text import last_line
from cluster.postgres.backup import DUMP, MANIFEST, files_in, folders
from cluster.postgres.tools import Tools, database_url
from cluster.state import only_one
from models.backup import Manifest
from models.config import Config
from models.error_lines import error_line
from models.errors import ClusterProblem

if TYPE_CHECKING:
    import psycopg

# The backup's members, each open to be read.
Files = dict[str, IO[bytes]]

_DUMP_FOLDER = ".restore-"
_OPTIONS = ("--schema=public", "--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction")


def restore(config: Config, source: Path, say: Say, *, replace: bool) -> None:
    """Restore a backup; `replace` what the database and the folders hold.

    Raises:
        ClusterProblem: the file is damaged, does not fit, something is in the way, or the outcome differs
            from the backup; the database and the folders are as they were. Or, where it says so, all is
            restored, and what was there before could not be removed.
        DatabaseUnavailable: the database could not be brought to this release.
    """
    ensure_writable(config.data_dir)
    with only_one(config.data_dir):
        _clear_remains(config)
        left = _restore(config, source, say, replace=replace)
    if left:
        raise ClusterProblem(
            f"restored, but what was there before could not be removed: {'; '.join(left)}; "
            "then run `signoff up`"
        )
    say("restored: run `signoff up`")


def _clear_remains(config: Config) -> None:
    """Remove the drafts of a restore that was killed: copies of what is in its backup."""
    drafts = [
        draft
        for folder in folders(config).values()
        for draft in folder.parent.glob(f".{glob.escape(folder.name)}.*")
        if draft.name.rpartition(".")[2].isdigit()
    ]
    for draft in (*drafts, *config.data_dir.glob(f"{_DUMP_FOLDER}*")):
        shutil.rmtree(draft, ignore_errors=True)


def _restore(config: Config, source: Path, say: Say, *, replace: bool) -> list[str]:
    """What is left of what was there before, each with what to do."""
    import psycopg

    from models.store.connecting import UNHURRIED, connect

    left: list[str] = []
    try:
        with tarfile.open(source, "r:") as tar:
            manifest = _manifest(tar, source)
            files = _check_members(tar, manifest, source)
            say(f"file: {len(manifest.members)} members, all digests are right")
            _check_folders(config, replace=replace)
            url = database_url(config, start=True)
            with (
                _drafts(config, files) as drafts,
                connect(url, application="signoff restore", settings=UNHURRIED) as connection,
            ):
                _check_server(connection, manifest, replace=replace)
                tools = Tools(config, server_version=connection.info.server_version)
                with (
                    _in_place_of(connection, left),
                    _folders_in_place_of(config, drafts) as put_in_place,
                    _unpacked(files[DUMP], config) as dump,
                ):
                    tools.run("pg_restore", url, [*_OPTIONS, str(dump)])
                    _check_restored(connection, manifest, say)
                    _bring_up_to_date(connection, url, manifest, say)
                    for name, folder in put_in_place():
                        say(f"{name}: {len(files_in(folder))} files in {folder}")
            left += _forget_old_folders(config)
    except (tarfile.TarError, EOFError) as error:
        raise ClusterProblem(f"{source} is no backup, or damaged: {error}: take another one") from error
    except psycopg.Error as error:
        raise ClusterProblem(f"the database refused: {error_line(str(error))}") from error
    except OSError as error:
        raise ClusterProblem(f"{error.filename or source}: {error.strerror}: {_remedy(error)}") from error
    return left


def _manifest(tar: tarfile.TarFile, source: Path) -> Manifest:
    file = tar.extractfile(MANIFEST) if MANIFEST in tar.getnames() else None
    if file is None:
        raise ClusterProblem(f"{source} holds no {MANIFEST}: it is no backup, or was cut off: take another")
    try:
        return Manifest.model_validate_json(file.read())
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"]))
        raise ClusterProblem(
            f"{source}: {MANIFEST}: {where}: {fault['msg']}: was it made by a newer release?"
        ) from error


def _check_members(tar: tarfile.TarFile, manifest: Manifest, source: Path) -> Files:
    """Each is there, as it was, and of a harmless name; the dump is one of them. Gives them all."""
    if DUMP not in {member.name for member in manifest.members}:
        raise ClusterProblem(f"{source}: {MANIFEST} lists no {DUMP}: take another backup")
    # By name once: the tar's own look-up goes through all its members for each.
    entries = {entry.name: entry for entry in tar.getmembers()}
    files: Files = {}
    for member in manifest.members:
        if not _is_harmless(member.name):
            raise ClusterProblem(f"{source}: the name {member.name!r} has no place here: take another backup")
        entry = entries.get(member.name)
        file = tar.extractfile(entry) if entry is not None and entry.isreg() else None
        if file is None or hashlib.file_digest(file, "sha256").hexdigest() != member.sha256:  # type: ignore[arg-type]
            raise ClusterProblem(f"{source}: {member.name} is damaged: take another backup")
        files[member.name] = file
    return files


def _is_harmless(name: str) -> bool:
    """Whether it is the dump, or a file in one of the folders, in the one way that this can be written."""
    path = PurePosixPath(name)
    inside = len(path.parts) > 1 and path.parts[0] in ("memory", "articles") and ".." not in path.parts
    return name == DUMP or (inside and str(path) == name and "\0" not in name)


def _check_folders(config: Config, *, replace: bool) -> None:
    for name, folder in folders(config).items():
        if folder.is_symlink() or folder.is_mount():
            raise ClusterProblem(
                f"{folder} ({name}) is a link or a mount point, which can't be replaced by another folder: "
                "set it to a folder of its own, such as one in there"
            )
        if (old := _aside(folder)).exists():
            raise ClusterProblem(
                f"{old} is what {folder} was before a restore that was broken off: move it back, or remove it"
            )
        if not replace and files_in(folder):
            raise ClusterProblem(f"{folder} ({name}) is not empty: empty it, or restore with --replace")


def _check_server(connection: "psycopg.Connection[Any]", manifest: Manifest, *, replace: bool) -> None:
    from models.store.upkeep import inventory

    refuse_broken_off(inventory.left_aside(connection))
    if connection.info.server_version // 10_000 < manifest.server_version // 10_000:
        raise ClusterProblem(
            f"the backup is of PostgreSQL {manifest.server_version // 10_000}, the server of "
            f"{connection.info.server_version // 10_000}: use a server that is not older"
        )
    if runners := inventory.live_runners(connection):
        raise ClusterProblem(f"{runners} runners are at work on the database: run `signoff down` first")
    if sessions := inventory.at_work(connection):
        raise ClusterProblem(f"{', '.join(sessions)} use the database: end them, as `signoff down` does")
    if not replace and not inventory.is_empty(connection):
        raise ClusterProblem("the database is not empty: restore into an empty one, or with --replace")


@contextmanager
def _in_place_of(connection: "psycopg.Connection[Any]", left: list[str]) -> Iterator[None]:
    """Put what is there aside, and back if the block fails. What can't be dropped afterwards is `left`."""
    import psycopg

    from models.store.upkeep import inventory

    aside = inventory.put_aside(connection)
    try:
        yield
    except BaseException:
        inventory.bring_back(connection, aside)
        raise
    try:
        inventory.drop(connection, aside)
    except psycopg.Error as error:
        reason = last_line(error)
        left.append(f"the schema {aside} ({reason}): remove it with `DROP SCHEMA {aside} CASCADE` in psql")


@contextmanager
def _folders_in_place_of(
    config: Config, drafts: dict[str, Path]
) -> Iterator[Callable[[], Iterator[tuple[str, Path]]]]:
    """Give what puts the drafts where the folders are, which it puts aside; undone if the block fails."""
    undo = ExitStack()

    def put_in_place() -> Iterator[tuple[str, Path]]:
        for name, folder in folders(config).items():
            if folder.exists():
                folder.rename(_aside(folder))
                undo.callback(_aside(folder).rename, folder)
            drafts[name].rename(folder)
            undo.callback(folder.rename, drafts[name])
            yield name, folder

    try:
        yield put_in_place
    except BaseException:
        undo.close()
        raise


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.before")


def _forget_old_folders(config: Config) -> list[str]:
    """Remove them; those that can't be are given, each with what to do."""
    left = []
    for folder in folders(config).values():
        if (old := _aside(folder)).exists():
            try:
                shutil.rmtree(old)
            except OSError as error:
                left.append(f"{old} ({error.filename}: {error.strerror}): remove that folder by hand")
    return left


def _check_restored(connection: "psycopg.Connection[Any]", manifest: Manifest, say: Say) -> None:
    from models.store.upkeep import inventory

    found, wanted = inventory.take(connection), manifest.inventory
    if found.revision != wanted.revision:
        raise ClusterProblem(f"revision {found.revision} was restored, {wanted.revision} was backed up")
    say(f"schema: revision {found.revision}, as backed up")
    for table in sorted({*wanted.rows, *found.rows}):
        if found.rows.get(table) != wanted.rows.get(table):
            raise ClusterProblem(
                f"{table}: {found.rows.get(table)} rows were restored, {wanted.rows.get(table)} backed up"
            )
    say(f"rows: {sum(found.rows.values())} in {len(found.rows)} tables, as backed up")
    for name, number in sorted(wanted.sequences.items()):
        now = found.sequences.get(name, 0)
        if now < number:
            raise ClusterProblem(f"{name} would go on at {now}, not at {number}: take another backup")
    if behind := inventory.sequences_behind(connection):
        raise ClusterProblem(f"{', '.join(behind)}: numbers would be given twice: take another backup")
    say(f"sequences: {len(found.sequences)}, none before where it was backed up, each past what is there")
    if found.newest_event != wanted.newest_event:
        raise ClusterProblem(f"events end at {found.newest_event}, the backup's at {wanted.newest_event}")
    say(f"events: streams go on after {found.newest_event}")


def _bring_up_to_date(connection: "psycopg.Connection[Any]", url: str, manifest: Manifest, say: Say) -> None:
    from models.store.schema.migrate import migrate
    from models.store.upkeep import inventory

    migrate(url)
    now = inventory.take(connection).revision
    if now != manifest.inventory.revision:
        say(f"schema: brought up to this release's revision {now}")
    if found := inventory.with_transaction_ids(connection):
        raise ClusterProblem(f"{', '.join(found)} hold transaction ids, which mean nothing on this server")
    say("transaction ids: in no row, so calls and events are counted on")


@contextmanager
def _drafts(config: Config, files: Files) -> Iterator[dict[str, Path]]:
    """The folders as they will be, by name, each beside its place."""
    drafts: dict[str, Path] = {}
    try:
        for name, folder in folders(config).items():
            drafts[name] = draft = folder.with_name(f".{folder.name}.{os.getpid()}")
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(parents=True, mode=0o700)
            for member, file in files.items():
                first, *rest = PurePosixPath(member).parts
                if first == name:
                    _unpack(file, draft.joinpath(*rest))
        yield drafts
    finally:
        for draft in drafts.values():
            shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def _unpacked(file: IO[bytes], config: Config) -> Iterator[Path]:
    """A member as a file that only we can read, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix=_DUMP_FOLDER, dir=config.data_dir) as folder:
        target = Path(folder) / DUMP
        _unpack(file, target)
        yield target


def _unpack(file: IO[bytes], target: Path) -> None:
    file.seek(0)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "xb") as copy:
            shutil.copyfileobj(file, copy)
    except OSError as error:
        # One of a write that finds no room names no file.
        raise ClusterProblem(f"{target}: {error.strerror}: {_remedy(error)}") from error


def _remedy(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "make room on that disk, and restore again"
    return "see that this user can read and write there, and restore again"
