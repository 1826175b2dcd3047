"""Who submitted a batch: a batch has no token, so this is what four eyes know of the person behind it.

Pipelines ask, and record the answer as who asked for their workflows, drafts and publications. It is as
true as whoever may submit jobs is honest: see docs/access.md.
"""

import getpass
import json
import os

from models.errors import InputInvalid
from models.people.users import MAX_SUBJECT, is_internal, is_subject

# Under this name `signoff submit` says who typed it, in the metadata of the Ray job.
METADATA = "signoff_submitter"
# How Ray hands a job's metadata to its driver.
_RAY_JOB = "RAY_JOB_CONFIG_JSON_ENV_VAR"


def submitter(named: str | None) -> str:
    """`named` (`--as`), or else who submitted the Ray job, or else whose process this is.

    Raises:
        InputInvalid: none of them can name a person, or it is a name of the site's own.
    """
    person = named if named is not None else _of_ray_job() or _of_process()
    if not is_subject(person) or is_internal(person):
        raise InputInvalid(
            f"--as: {person!r} can't name the person who submits this: use 1 to {MAX_SUBJECT} printable "
            "characters, such as the sub of your tokens, and no name of the site's own"
        )
    return person


def _of_ray_job() -> str:
    # Ray itself tells a job's process in this way what it was submitted with.
    said = json.loads(os.environ.get(_RAY_JOB, "{}"))
    return str((said.get("metadata") or {}).get(METADATA) or "")


def _of_process() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError) as error:
        raise InputInvalid("--as: who submits this can't be told here: give --as NAME") from error
