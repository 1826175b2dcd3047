"""The kinds of values a configuration holds: texts, counts, URLs, paths, secrets, and `Section` itself.

Only `models.config` uses them. Paths, a secret's file too, are relative to the `root` that validation
gets as context. With `withheld` there, each secret becomes `WITHHELD`.
"""

import ipaddress
import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    ValidationInfo,
)

from models.addresses import ends_in_number, is_host_name
from models.database_url import libpq_form
from models.redaction import keep

# What stands for a secret where settings travel without them. It is as long as any secret has to be.
WITHHELD = "withheld: the site's secrets stay where it was brought up"

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Port = Annotated[int, Field(ge=1, le=65535)]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]


class KeptSecret(SecretStr):
    """A secret that every process which holds it knows to keep out of what it tells."""

    def __init__(self, secret_value: str) -> None:
        super().__init__(secret_value)
        self._keep()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._keep()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SecretStr) and self.get_secret_value() == other.get_secret_value()

    __hash__ = SecretStr.__hash__

    def _keep(self) -> None:
        if (value := self.get_secret_value()) != WITHHELD:
            keep(value)


def _check_url(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ValueError("must start with http:// or https://")
    if any(character.isspace() for character in url):
        raise ValueError("has a blank in it: leave it out")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"is no address: {error}") from error
    if not parts.hostname or port == 0:
        raise ValueError("names no host or port that there can be: write http://HOST:PORT")
    return url


def _read_secret(value: Any, info: ValidationInfo) -> Any:
    """Accept a secret in place or as `{file: PATH}`; an empty one is refused.

    With `make: true` beside it, a file that is not there is made, with a secret of its own.
    """
    if (info.context or {}).get("withheld") and value is not None:
        return WITHHELD
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if isinstance(value, dict):
        made = value.get("make", False)
        if not {"file"} <= set(value) <= {"file", "make"} or not isinstance(value["file"], str):
            raise ValueError("a secret is a text, or {file: PATH}, or {file: PATH, make: true}")
        if not isinstance(made, bool):
            raise ValueError("make is true or false")
        path = resolved(value["file"], info)
        try:
            if made and not path.exists():
                _make_secret(path)
            value = path.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ValueError(f"can't read the secret file {error.filename}: {error.strerror}") from error
    if isinstance(value, str) and not value.strip():
        raise ValueError("the secret is empty")
    if isinstance(value, str) and value.strip().startswith("<REQUIRED"):
        raise ValueError("the secret is still the template's placeholder")
    return value


def _libpq_form(url: KeptSecret) -> KeptSecret:
    found = url.get_secret_value()
    return url if found == WITHHELD else KeptSecret(libpq_form(found))


def _make_secret(path: Path) -> None:
    """Write a secret of 32 random bytes for this user alone; whole, or not at all, and once."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Made with 0600, under a name of its own: who links it first has made the secret for all.
    opened, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with open(opened, "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        os.unlink(draft)


def _refuse_blank(value: Any) -> Any:
    if isinstance(value, str) and not value.strip():
        raise ValueError("the path is empty")
    return value


def _check_host(host: str) -> str:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        name = host.removesuffix(".")
        if not is_host_name(name) or ends_in_number(name):
            raise ValueError(
                f"{host!r} is no address and no host's name: write it without scheme and port"
            ) from None
    return host


def _check_host_and_port(place: str) -> str:
    host, colon, port = place.rpartition(":")
    is_port = port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536
    if not colon or not is_port:
        raise ValueError(f"{place!r} is no HOST:PORT, such as head:6379")
    _check_host(host[1:-1] if host.startswith("[") and host.endswith("]") else host)
    return place


def refuse_null(word: str) -> BeforeValidator:
    """For a setting that may be without bounds: it says so with a word, and can't with `null`.

    In a file that extends another `null` takes away what that says, and the setting would be missing.
    """

    def check(value: Any) -> Any:
        if value is None:
            raise ValueError(f"null only takes away what an extended file says: say {word}")
        return value

    return BeforeValidator(check)


def resolved(path: Path | str, info: ValidationInfo) -> Path:
    """A path as it is meant: relative ones are so to `root`."""
    path = Path(path).expanduser()
    root = (info.context or {}).get("root")
    return Path(os.path.normpath(root / path)) if root is not None else path


Url = Annotated[Text, AfterValidator(_check_url), Field(json_schema_extra={"format": "uri"})]
Host = Annotated[Text, AfterValidator(_check_host)]
HostAndPort = Annotated[Text, AfterValidator(_check_host_and_port)]
Secret = Annotated[KeptSecret, BeforeValidator(_read_secret)]
DatabaseUrl = Annotated[Secret, AfterValidator(_libpq_form)]
ResolvedPath = Annotated[Path, Field(strict=False), BeforeValidator(_refuse_blank), AfterValidator(resolved)]


class Section(BaseModel):
    """A frozen part of the configuration that refuses unknown keys and loose types."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, protected_namespaces=()
    )
