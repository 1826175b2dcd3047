"""Files that commands write for a person: what is there already is kept, unless he says that it may go."""

import os
import secrets
from pathlib import Path

from models.errors import InputInvalid


def check_free(path: Path, *, replace: bool) -> None:
    """InputInvalid where a file can't be written there: something is there already, or there is no folder."""
    if path.is_dir():
        raise InputInvalid(f"--output {path}: this is a folder: name a file in it")
    if not path.parent.is_dir():
        raise InputInvalid(f"--output {path}: there is no folder {path.parent}: make it first")
    if not replace and os.path.lexists(path):
        raise _there(path)


def save(path: Path, content: bytes, *, replace: bool) -> None:
    """Write a file, whole or not at all. Raises InputInvalid: it is there by now, or can't be written."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with part.open("xb") as file:
            file.write(content)
        if replace:
            part.replace(path)
        else:
            # Unlike a rename, a link never takes the place of what somebody has put there meanwhile.
            os.link(part, path)
    except FileExistsError as error:
        raise _there(path) from error
    except OSError as error:
        raise InputInvalid(f"--output {path}: it can't be written: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def _there(path: Path) -> InputInvalid:
    return InputInvalid(f"--output {path}: it is there already, and is kept: give --force, or another name")
