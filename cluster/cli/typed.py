"""Commands that people are told to type: they hold the options with which the person called.

The commands of the terminal use it, so that what they print can be copied and pasted.
"""

import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path


def command() -> str:
    """The `signoff` command as it can be typed here: `make` runs it without its folder on the PATH."""
    called = sys.argv[0]
    return called if Path(called).name == "signoff" and shutil.which("signoff") is None else "signoff"


def as_options(given: Mapping[str, object]) -> tuple[str, ...]:
    """Options as they are typed again; those that the person did not give (None) are left out."""
    return tuple(word for name, value in given.items() if value is not None for word in (name, str(value)))


def typed(words: Iterable[object], options: Iterable[str] = ()) -> str:
    """A command with its options, quoted for a shell where that needs it."""
    return shlex.join([command(), *map(str, words), *options])
