"""The site: what `signoff up` brought up here, written into the Ray cluster for jobs to find.

A job runs from a copy of its working directory, where relative paths mean nothing; the site says
what they are relative to, which database is the cluster's, and which configuration it runs.
"""

import json
import uuid
from pathlib import Path
from typing import Any

import ray.experimental.internal_kv as kv

from actors.systems import load
from models.config import Config, without_secrets
from models.errors import ClusterProblem
from models.files import write_atomically
from models.record import Record

_KEY = b"site"
_NAMESPACE = b"signoff"


class Site(Record):
    """The cluster's own facts. `settings` is the resolved configuration, without its secrets."""

    root: Path
    database_url: str
    settings: dict[str, Any]


def publish(config: Config, *, root: Path, database_url: str) -> None:
    """Write the site's facts into the cluster this process is connected to."""
    site = Site(root=root, database_url=database_url, settings=_settings(config))
    kv._internal_kv_put(_KEY, site.model_dump_json().encode(), overwrite=True, namespace=_NAMESPACE)


def unpublish() -> None:
    """Take the site's facts off the cluster this process is connected to: with them a password."""
    kv._internal_kv_del(_KEY, namespace=_NAMESPACE)


def site_id(data_dir: Path) -> str:
    """The id of the site that keeps its data here, given once: it is in the names of the site's runners."""
    file = data_dir / "site-id"
    if not file.exists():
        data_dir.mkdir(parents=True, exist_ok=True)
        write_atomically(file, uuid.uuid4().hex[:8])
    return file.read_text(encoding="ascii").strip()


def find() -> Site:
    """The site of the cluster this process is connected to.

    Raises:
        ClusterProblem: nothing was brought up here.
    """
    found = kv._internal_kv_get(_KEY, namespace=_NAMESPACE)
    if not found:
        raise ClusterProblem("this Ray cluster has no Signoff site: run `signoff up` first")
    return Site.model_validate_json(found)


def load_for(site: Site, path: Path | None) -> Config:
    """The site's configuration: from the site itself, without secrets, or from a file that must say the same.

    A relative path is looked for in the folder `signoff up` ran in, then in the current one: a job's copy of
    the folder holds no configuration, for an upload is no place for secrets.

    Raises:
        ConfigInvalid: the file is wrong.
        ClusterProblem: the cluster runs another configuration; the message names what differs.
    """
    if path is None:
        return without_secrets(site.settings)
    own = site.root / path
    config = load(own if own.is_file() else path, root=site.root)
    different = sorted(_differences(site.settings, _settings(config)))
    if different:
        raise ClusterProblem(
            f"the cluster was brought up with another configuration than {path} "
            f"(differs at {', '.join(different[:5])}): run `signoff up --config {path}` first"
        )
    return config


def _settings(config: Config) -> dict[str, Any]:
    """The configuration as JSON. Secrets show as `**********`: the cluster's store is no place for them."""
    settings = json.loads(config.model_dump_json())
    assert isinstance(settings, dict)
    return settings


def _differences(old: Any, new: Any, path: str = "") -> list[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        keys = old.keys() | new.keys()
        return [
            where
            for key in keys
            for where in _differences(old.get(key), new.get(key), f"{path}.{key}" if path else str(key))
        ]
    return [] if old == new else [path]
