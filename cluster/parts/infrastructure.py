"""The parts that `signoff up` brings up, in their order. Serve's applications are in `apps`.

They share a `Bringup`. The tables are in `schema`, runners and their like in `workers`. What a change of
configuration or code touches is started anew: see `Bringup.fresh`.
"""

from pathlib import Path

from cluster import bundled_model, checks, ray
from cluster.bringup import Bringup, local_head, settings_of
from cluster.folders import ensure_writable
from cluster.parts.plan import Say
from cluster.postgres import server
from cluster.state import fingerprint
from models.config import Config
from models.errors import ClusterProblem
from serve.inference.llm import model_folder


def check_ports(config: Config) -> None:
    """The three ports of a new head and its HTTP proxy are free."""
    checks.check_port(ray.LOOPBACK, config.ray.port, "ray.port")
    checks.check_port(ray.LOOPBACK, config.ray.dashboard_port, "ray.dashboard_port")
    checks.check_port(config.http.host, config.http.port, "http.port")


class Machine:
    """What must be right before anything is started: disk, memory, folders, ports, a database elsewhere."""

    name = "machine"
    after: tuple[str, ...] = ()

    def __init__(self, bringup: Bringup) -> None:
        self._config = bringup.config

    def check(self) -> str | None:
        """Look at everything; nothing here can be repaired."""
        config = self._config
        checks.check_shared(config)
        if config.database.url is not None:
            checks.check_database_fits(config, config.database.url.get_secret_value())
        ensure_writable(config.data_dir)
        checks.check_model_folders(config)
        converting = any(folder is not None for folder in missing_models(config))
        told = [checks.check_disk(config.data_dir, converting=converting)]
        if config.ray.address is None and not ray.processes(local_head(config)):
            check_ports(config)
            told.append(checks.check_memory(checks.available_memory(), checks.memory_needed(config)))
        return ", ".join(told)

    def repair(self, say: Say) -> str:
        """Never called: `check` returns or raises."""
        raise NotImplementedError


class Postgres:
    """The database: ours from the wheel, or the configured one, which must answer."""

    name = "database"
    after = ("machine",)

    def __init__(self, bringup: Bringup) -> None:
        self._bringup = bringup

    def check(self) -> str | None:
        """SELECT from it; None when ours does not run."""
        config = self._bringup.config
        secret = config.database.url
        found = server.url(config.data_dir) if secret is None else secret.get_secret_value()
        if found is None:
            return None
        detail = checks.check_database(found)
        self._bringup.database_url = found
        return f"{detail}, {'in the data folder' if secret is None else 'as configured'}"

    def repair(self, say: Say) -> str:
        """Start ours."""
        self._bringup.database_url = server.start(self._bringup.config.data_dir)
        return f"{checks.check_database(self._bringup.database_url)}, in the data folder"


class BundledModel:
    """The bundled models as folders vLLM can read."""

    name = "bundled model"
    after = ("machine",)

    def __init__(self, bringup: Bringup) -> None:
        self._config = bringup.config

    def check(self) -> str | None:
        """All are converted, or none is asked for."""
        if any(folder is not None for folder in missing_models(self._config)):
            return None
        bundled = [model.name for model in self._config.serving.models if model.source == "bundled"]
        return ", ".join(bundled) or "not used"

    def repair(self, say: Say) -> str:
        """Convert; about half a minute each."""
        for folder in missing_models(self._config):
            if folder is not None:
                say(f"converting {folder.name}")
                bundled_model.convert(folder)
        return self.check() or "converted"


def missing_models(config: Config) -> list[Path | None]:
    """The folders of bundled models that must still be converted."""
    folders = [model_folder(config, model) for model in config.serving.models if model.source == "bundled"]
    return [folder for folder in folders if not bundled_model.is_converted(folder)]


class Head:
    """Ray: a head of ours on this machine, or the configured cluster. Connects this process to it."""

    name = "ray"
    after = ("machine",)

    def __init__(self, bringup: Bringup) -> None:
        self._bringup = bringup

    def check(self) -> str | None:
        """Connect; None when ours is not whole, or is not as configured any more."""
        config = self._bringup.config
        if config.ray.address is not None:
            if token := ray.missing_token():
                raise ClusterProblem(token)
            return self._connected(config.ray.address)
        head = local_head(config)
        if self._bringup.state.ray != head or not self._bringup.fresh(self.name, self._made_of()):
            return None
        return self._connected(head.address) if ray.alive(head) else None

    def repair(self, say: Say) -> str:
        """Clear away what is left of an old head, and start a new one."""
        config, old = self._bringup.config, self._bringup.state.ray
        if note := ray.ensure_token():
            self._bringup.notes.append(note)
        head = local_head(config)
        say("clearing away what is left of the last one")
        for left in {old, head} - {None}:
            assert left is not None
            ray.stop(left)
        check_ports(config)
        say("starting the head")
        # Recorded first: a head that is interrupted while it starts must be found by `down`.
        self._bringup.record(lambda state: {"ray": head, "deployed": {}, "http": None})
        ray.start_head(config)
        self._bringup.head_is_new = True
        self._bringup.made(self.name, self._made_of())
        return self._connected(head.address)

    def _made_of(self) -> str:
        return fingerprint(settings_of(self._bringup.config.ray))

    def _connected(self, address: str) -> str:
        ray.connect(address)
        import ray as ray_package

        nodes = [node for node in ray_package.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
        resources = ray_package.cluster_resources()  # type: ignore[no-untyped-call]
        detail = checks.check_resources(self._bringup.config, resources)
        if self._bringup.config.ray.address is not None:
            checks.check_node_folders(self._bringup.config, ray.nodes_without)
        return f"{len(nodes)} {'node' if len(nodes) == 1 else 'nodes'}, {detail}, at {address}"


class SitePart:
    """The resolved configuration, recorded in the cluster so that jobs find it."""

    name = "site"
    after = ("ray", "schema")

    def __init__(self, bringup: Bringup) -> None:
        self._bringup = bringup

    def check(self) -> str | None:
        """Nothing to look at: publishing again is as quick as looking."""
        return None

    def repair(self, say: Say) -> str:
        """Publish."""
        from actors.platform.runtime.site import publish

        # So that `down` takes it off a cluster that is not ours, also when nothing else came up.
        self._bringup.made(self.name, "published")
        bringup = self._bringup
        publish(bringup.config, root=Path.cwd(), file=bringup.file, database_url=bringup.database_url)
        return str(Path.cwd())
