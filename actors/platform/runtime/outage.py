"""What is away, and how long to wait for it: an outage is no verdict on the work.

Asked by the runner when a step raised. What is wrong with the site (a model, the database, an agent, the
disk) parks the workflow; anything else is the work's own, and fails it.
"""

import errno

import ray.exceptions

from models.config import OutagesConfig
from models.error_lines import error_line
from models.errors import PlacesTaken, SignoffError
from models.store.database import is_gone, missing

# Of the machine or the network, whatever was to be done.
_SITE = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EIO,
    errno.EROFS,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOMEM,
    errno.ESTALE,
    errno.ECONNREFUSED,
    errno.ECONNRESET,
    errno.EHOSTUNREACH,
    errno.ENETUNREACH,
    errno.ETIMEDOUT,
    errno.EPIPE,
}


def waits_for(error: BaseException) -> str | None:
    """What has to come back before the work can go on; None where the work itself is wrong."""
    if isinstance(error, PlacesTaken):  # people are told, and work waits
        return error_line(error)
    if isinstance(error, SignoffError):
        return str(error.facts.get("waits_for") or error_line(error)) if error.outage else None
    if is_gone(error):
        return missing(error)
    if isinstance(error, ray.exceptions.RayError) and not isinstance(error, ray.exceptions.RayTaskError):
        return f"Ray ({type(error).__name__})"
    if isinstance(error, OSError) and error.errno in _SITE:
        return f"the machine ({error.strerror})"
    return None


def pause_seconds(waited: float, settings: OutagesConfig) -> float | None:
    """How long to wait before the next try, after `waited` seconds; None when patience is over.

    The pauses grow with the waiting, so that what comes back is not met by everything at once.
    """
    left = settings.patience_seconds - waited
    if left <= 0:
        return None
    return min(max(settings.first_pause_seconds, waited / 2), settings.longest_pause_seconds, left)
