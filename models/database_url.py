"""Where a database is, as people write it: libpq's URL or its `host=… dbname=…`, or SQLAlchemy's URL.

`libpq_form` makes the first two of all. What it refuses is told without a word of it: a password that is not
encoded would stand in libpq's own message, or be taken for a host that is asked for by name.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

# libpq's parameters that nobody may read (PostgreSQL's documentation, "Parameter Key Words").
SECRET_PARAMETERS = frozenset(
    ("password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key")
)
# Those that are files.
_FILES = frozenset(("passfile", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslcrldir"))
_HOST_AND_PORT = re.compile(r"(?:\[[^\]]*\]|[^:/\[\]]+):\d+")
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
        url = f"postgresql://{f'{named}{secret}@' if user is not None else ''}{_with_hosts(rest)}"
    elif "://" in url.partition("=")[0] and _URL.fullmatch(url) is None:
        raise ValueError(_REFUSED)
    if (found := _URL.fullmatch(url)) is not None:
        authority, _, name = found[2].partition("/")
        person = authority.rpartition("@")[0]
        if "@" in person or "?" in person or "@" in name.partition("?")[0]:
            raise ValueError(_REFUSED)
    try:
        _check_files(conninfo_to_dict(url))
    except (ProgrammingError, UnicodeError):
        raise ValueError(_REFUSED) from None
    return url


def _with_hosts(rest: str) -> str:
    """SQLAlchemy's `?host=a:1&host=b:2` as libpq's `?host=a,b&port=1,2`, which takes the last of several."""
    place, _, query = rest.partition("?")
    given = parse_qsl(query, keep_blank_values=True)
    hosts = [value for name, value in given if name == "host"]
    named = [host.rpartition(":") if _HOST_AND_PORT.fullmatch(host) else (host, "", "") for host in hosts]
    if len(hosts) < 2 and not any(port for _, _, port in named):
        return rest
    ports = [("port", ",".join(port for _, _, port in named))] if any(port for _, _, port in named) else []
    others = [(name, value) for name, value in given if name != "host"]
    together = [("host", ",".join(host.strip("[]") for host, _, _ in named)), *ports, *others]
    return f"{place}?{urlencode(together, quote_via=quote)}"


def _check_files(parameters: Mapping[str, Any]) -> None:
    """Each process looks for a relative path in its own folder, and libpq knows no `~`."""
    for name in _FILES & set(parameters):
        if not str(parameters[name]).startswith("/") and parameters[name] not in ("", "system"):
            raise ValueError(
                f"its {name} is no whole path: write it from / on, for each process has its own folder"
            )
