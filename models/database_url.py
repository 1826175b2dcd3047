"""Where a database is, as people write it: libpq's URL or its `host=… dbname=…`, or SQLAlchemy's URL.

`libpq_form` makes the first two of all. What it refuses is told without a word of it: a password that is not
encoded would stand in libpq's own message, or be taken for a host that is asked for by name.
"""

import re
from urllib.parse import quote, unquote

# libpq's parameters that nobody may read (PostgreSQL's documentation, "Parameter Key Words").
SECRET_PARAMETERS = frozenset(
    ("password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key")
)
_DRIVER = re.compile(r"(postgres(?:ql)?)\+\w+://(?:([^:/@]*)(?::([^@]*))?@)?(.*)", re.DOTALL)
_URL = re.compile(r"(postgres(?:ql)?://)(.*)", re.DOTALL)
_REFUSED = (
    "is no address of a database that can be read: write postgresql://USER:PASSWORD@HOST:PORT/NAME, with %40 "
    "for @, %3A for :, %2F for /, %3F for ? and %25 for % in the password, and libpq's own parameters after ?"
)


def libpq_form(url: str) -> str:
    """The address as libpq takes it. Raises ValueError, which tells nothing of it."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    url = url.strip()
    if (found := _DRIVER.fullmatch(url)) is not None:
        _, user, password, rest = found.groups()
        named = user and quote(unquote(user), safe="")
        # SQLAlchemy takes all up to the @ for the password.
        secret = f":{quote(unquote(password), safe='')}" if password is not None else ""
        url = f"postgresql://{f'{named}{secret}@' if user is not None else ''}{rest}"
    elif "://" in url.partition("=")[0] and _URL.fullmatch(url) is None:
        raise ValueError(_REFUSED)
    if (found := _URL.fullmatch(url)) is not None:
        authority, _, name = found[2].partition("/")
        person = authority.rpartition("@")[0]
        if "@" in person or "?" in person or "@" in name.partition("?")[0]:
            raise ValueError(_REFUSED)
    try:
        conninfo_to_dict(url)
    except (ProgrammingError, UnicodeError):
        raise ValueError(_REFUSED) from None
    return url
