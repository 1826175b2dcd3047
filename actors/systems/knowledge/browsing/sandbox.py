"""Who Chromium runs as, and whether with its own sandbox: `Chromium` starts it by this, and says which it is.

Its sandbox does not start for root (crbug.com/638180): there it runs as `nobody`, with an environment of its
own. Where the kernel lets it have no sandbox (in many containers), it runs without, as that user still.
"""

import os
import pwd
import re
import shlex
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from models.errors import BrowserUnavailable

# By which a Chromium of ours is known among processes, with a number of its own behind it.
MARK = "--signoff-browser="
_NOBODY = "nobody"
# What Chromium says, and ends, where it can have none.
_NO_SANDBOX = re.compile(r"No usable sandbox|SUID sandbox helper|[Ff]ailed to move to new namespace")
_KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "FONTCONFIG_PATH", "FONTCONFIG_FILE")
# Run as root: the profile's folder, which the driver has made, is given over; then all rights are given up.
_AS_ANOTHER = """
import os, sys
user, group, program, *given = sys.argv[1:]
profile = next(one.partition("=")[2] for one in given if one.startswith("--user-data-dir="))
os.chown(profile, int(user), int(group))
os.setgroups([])
os.setresgid(int(group), int(group), int(group))
os.setresuid(int(user), int(user), int(user))
kept = {name: os.environ[name] for name in KEPT if name in os.environ}
os.execve(program, [program, *given], {**kept, "HOME": profile, "XDG_RUNTIME_DIR": profile})
"""


def denied(error: Exception) -> bool:
    """Whether Chromium did not start because it could have no sandbox."""
    return _NO_SANDBOX.search(str(error)) is not None


def runs_as() -> str:
    """The name of the user that it runs as."""
    if os.geteuid() == 0:
        return _NOBODY
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # as in many containers
        return str(os.geteuid())


def chromium_below(pid: int) -> str | None:
    """How the Chromium runs that a process here has begun; None where there is none."""
    with suppress(psutil.Error):
        for one in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.Error):
                given = one.cmdline()
                if any(word.startswith(MARK) for word in given) and not any(
                    "--type=" in word for word in given
                ):
                    return told(one.username(), sandboxed="--no-sandbox" not in given)
    return None


def told(user: str, *, sandboxed: bool) -> str:
    """In words, for logs and people."""
    return f"Chromium runs as {user}, {'with' if sandboxed else 'WITHOUT'} its sandbox"


@contextmanager
def program_of(executable: str) -> Iterator[str]:
    """What is to be started: the program itself, or for root one that goes on as another user.

    Raises:
        BrowserUnavailable: that user can't get at it.
    """
    if os.geteuid() != 0:
        yield executable
        return
    resolved = Path(executable).resolve()
    for folder in resolved.parents:
        if not folder.stat().st_mode & stat.S_IXOTH:
            raise BrowserUnavailable(
                f"{resolved} lies in {folder}, which only its owner may enter, and as root Chromium runs as "
                f"{_NOBODY}: run `apt-get install chromium`, or have playwright install it elsewhere "
                "(PLAYWRIGHT_BROWSERS_PATH)"
            )
    try:
        other = pwd.getpwnam(_NOBODY)
    except KeyError as error:
        raise BrowserUnavailable(
            f"there is no user {_NOBODY} here, as whom Chromium runs where root starts it: run "
            f"`useradd --system {_NOBODY}`, or start the site as another user than root"
        ) from error
    code = _AS_ANOTHER.replace("KEPT", repr(_KEPT))
    words = [sys.executable, "-I", "-c", code, str(other.pw_uid), str(other.pw_gid), str(resolved)]
    with tempfile.TemporaryDirectory(prefix="signoff-browser-") as made:
        program = Path(made) / "chromium"
        program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
        program.chmod(0o700)
        yield str(program)
