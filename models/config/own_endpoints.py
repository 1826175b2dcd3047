"""Where this site's own models and sample servers answer, and the key that opens them.

Part of `models.config`. A model without `api_base` is one that the site serves itself, and shows
`serving.api_key`; one that names another endpoint names its key, too, so that the site's is never sent there.
Likewise an MCP server that is a `sample`: where it is, and the key, are the site's own.
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

from pydantic import SecretStr, TypeAdapter, ValidationError, ValidationInfo

from models.addresses import is_loopback
from models.config.fields import WITHHELD, Secret, Url

LLM = "/llm/v1"
EMBEDDINGS = "/embeddings/v1"
SAMPLES = "/samples"
_SECRET: TypeAdapter[SecretStr] = TypeAdapter(Secret)
_URL: TypeAdapter[str] = TypeAdapter(Url)
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


@dataclass(frozen=True)
class OwnEndpoints:
    """Serve's proxy as the agents reach it (`http://127.0.0.1:8000`), and `serving.api_key`."""

    proxy: str
    key: str

    def opens(self, api_base: Any, path: str) -> bool:
        """Whether the key is the one for `api_base`: it is this site's own endpoint at `path`."""
        own = urlsplit(self.proxy + path)
        try:
            said = urlsplit(api_base.rstrip("/"))
            return said[2:] == own[2:] and _place(said) == _place(own)
        except (AttributeError, ValueError):
            return False


def _place(url: SplitResult) -> tuple[str, str, int | None]:
    host = url.hostname or ""
    return url.scheme, "127.0.0.1" if is_loopback(host) else host, url.port


def own_endpoints(raw: dict[Any, Any], context: dict[str, Any]) -> OwnEndpoints:
    """Those of a configuration as it is written.

    Of a setting that is wrong anything is made: its fault is told at its own place, and only there.
    """
    http, ray, serving = (_section(raw, name) for name in ("http", "ray", "serving"))
    try:
        key = _SECRET.validate_python(serving.get("api_key"), context=context).get_secret_value()
    except ValidationError:
        key = WITHHELD
    address, host = ray.get("address"), str(http.get("host"))
    host = address.rpartition(":")[0] if isinstance(address, str) else _EVERYWHERE.get(host, host)
    host = f"[{host}]" if ":" in host and not host.startswith("[") else host
    proxy = f"http://{host}:{http.get('port')}"
    try:
        _URL.validate_python(proxy)
    except ValidationError:
        proxy = "http://127.0.0.1:1"
    return OwnEndpoints(proxy, key)


def _section(raw: dict[Any, Any], name: str) -> dict[Any, Any]:
    section = raw.get(name)
    return section if isinstance(section, dict) else {}


def served_here(said: Any, info: ValidationInfo, path: str) -> Any:
    """A model's settings as written, with address and key of the site's own where they name neither."""
    own = _own(info)
    if own is None or not isinstance(said, dict):
        return said
    if "api_base" not in said:
        return {"api_base": own.proxy + path, "api_key": own.key, **said}
    return {"api_key": own.key, **said} if own.opens(said["api_base"], path) else said


def sample_here(said: Any, info: ValidationInfo) -> Any:
    """An MCP server's `http` as written, with address and key of the sample server that it names.

    Raises:
        ValueError: it names another place or key beside.
    """
    own = _own(info)
    if own is None or not isinstance(said, dict) or not isinstance(name := said.get("sample"), str):
        return said
    if beside := said.keys() & {"url", "header", "client_credentials"}:
        raise ValueError(f"sample says where the server is and what opens it: leave {min(beside)} out")
    return {**said, "url": f"{own.proxy}{SAMPLES}/{name}/mcp", "header": {"value": f"Bearer {own.key}"}}


def check_key(api_base: str, api_key: SecretStr, info: ValidationInfo, path: str) -> None:
    """The site's own endpoints open to `serving.api_key` alone: any other would be refused for good.

    Raises:
        ValueError: another is given for one of them.
    """
    own = _own(info)
    if own is not None and own.opens(api_base, path) and api_key.get_secret_value() != own.key:
        raise ValueError(
            f"api_key differs from serving.api_key, which opens {own.proxy}{path}: leave it out, or name "
            "the api_base that it is for"
        )


def _own(info: ValidationInfo) -> OwnEndpoints | None:
    own = (info.context or {}).get("own")
    return own if isinstance(own, OwnEndpoints) else None
