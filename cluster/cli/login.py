"""Who is logged in here: the person that commands act for unless they are told another."""

import getpass

from models.errors import ConfigInvalid


def login(option: str) -> str:
    """The login name.

    Raises:
        ConfigInvalid: there is none, as for a user id of a pod; `option` is what names somebody instead.
    """
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError) as error:
        raise ConfigInvalid(f"{option}: who you are can't be told here: give {option} NAME") from error
