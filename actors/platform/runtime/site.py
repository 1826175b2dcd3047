"""The site: what `signoff up` brought up here, written into the Ray cluster for jobs to find.

A job runs from a copy of its working directory, where relative paths mean nothing; the site says
what they are relative to, which database is the cluster's, and which configuration it runs.
"""

import json
import logging
import uuid
from pathlib import Path
from typing import Any

import ray.experimental.internal_kv as kv

from actors.platform.systems import load
from models.config import Config, without_secrets
from models.error_lines import error_line
from models.errors import ClusterProblem, ConfigInvalid
from models.files import write_atomically
from models.record import Record

_KEY = b"site"
_NAMESPACE = b"signoff"
_log = logging.getLogger("signoff.site")


class Site(Record):
    """The cluster's own facts. `settings` is the resolved configuration, without its secrets.

    `file` is where it was read from, on the machine that `signoff up` ran on.
    """

    root: Path
    file: Path | None = None
    database_url: str
    settings: dict[str, Any]


def publish(config: Config, *, root: Path, database_url: str, file: Path | None = None) -> None:
    """Write the site's facts into the cluster this process is connected to."""
    site = Site(root=root, file=file, database_url=database_url, settings=_settings(config))
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
    """The site's configuration: the one that it was brought up with, or a file that must say the same.

    The cluster's store and an upload are no place for secrets, so they come from the file that `signoff up`
    read. Where that can't be read, or says something else by now, the site's settings come without them.
    A relative path is looked for in the folder `signoff up` ran in, then in the current one.

    Raises:
        ConfigInvalid: the file is wrong.
        ClusterProblem: the cluster runs another configuration; the message names what differs.
    """
    if path is not None:
        own = site.root / path
        return _load_same(site, own if own.is_file() else path, name=path)
    if site.file is not None:
        try:
            return _load_same(site, site.file, name=site.file)
        except (ConfigInvalid, ClusterProblem) as error:
            _log.warning("going on without the site's secrets: %s", error_line(error))
    return without_secrets(site.settings)


def _load_same(site: Site, file: Path, *, name: Path) -> Config:
    config = load(file, root=site.root)
    different = sorted(_differences(site.settings, _settings(config)))
    if different:
        raise ClusterProblem(
            f"the cluster was brought up with another configuration than {name} "
            f"(differs at {', '.join(different[:5])}): run `signoff up --config {name}` first"
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
