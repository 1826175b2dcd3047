"""Serve's applications as parts of the bring-up: `llm`, `embeddings`, `samples` and `api`.

Each is deployed without waiting, so that they come up side by side; its part then waits until Serve
says RUNNING and the application answers over HTTP. One that exists, is made of the same settings and
code and is only unwell is left to Serve, which is already repairing it.
"""

import importlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from cluster import checks
from cluster.bringup import CODE, Bringup, settings_of
from cluster.folders import ROOT
from cluster.parts.plan import Say
from cluster.state import fingerprint
from models.config import Config
from models.config.own_endpoints import SAMPLES
from models.errors import ClusterProblem
from serve.inference import embeddings, llm
from serve.samples.data import load_samples

if TYPE_CHECKING:
    from ray.serve import Application
    from ray.serve.schema import ApplicationStatusOverview

# One thread at a time talks to Serve. Whenever it makes a deployment's configuration, be it only to
# read a status, it changes for a moment what pickling does in the whole process.
_SERVE = threading.Lock()
_POLL_SECONDS = 0.5
# Part of each application that the shared key opens.
_INFERENCE = ROOT / "serve" / "inference"
_KEYED = (
    _INFERENCE / "shared_key.py",
    _INFERENCE / "own_address.py",
    ROOT / "serve" / "admission" / "bodies.py",
)
_LOGGING = (
    ROOT / "serve" / "monitoring" / "replica_logs.py",
    ROOT / "actors" / "platform" / "logs.py",
    ROOT / "models" / "log_ids.py",
)
_EMBEDDINGS = (
    _INFERENCE / "embeddings.py",
    ROOT / "actors" / "platform" / "search" / "encoder.py",
    *_LOGGING,
)
_SAMPLES = (ROOT / "serve" / "samples", ROOT / "actors/platform/text/normal_form.py", *_LOGGING)


def serve_apps(bringup: Bringup) -> "list[ServeApp]":
    """The applications this configuration asks for."""
    config = bringup.config
    apps = []
    if config.serving.embeddings is not None:
        apps.append(_embeddings(bringup))
    if config.serving.models:
        apps.append(_llm(bringup))
    if config.mcp.samples is not None:
        apps.append(_samples(bringup))
    return [*apps, _api(bringup)]


def _embeddings(bringup: Bringup) -> "ServeApp":
    settings, key = bringup.config.serving.embeddings, bringup.config.serving.api_key.get_secret_value()
    logs = bringup.config.monitoring.logs
    assert settings is not None

    def build() -> "Application":
        from serve.inference.embeddings import build_embeddings

        return build_embeddings(settings, key, logs)

    return ServeApp(
        bringup,
        name="embeddings",
        after=("ray",),
        route=embeddings.ROUTE,
        probe=f"{embeddings.ROUTE}/v1/models",
        serves=settings.name,
        imports="serve.inference.embeddings",
        build=build,
        made_of=lambda: fingerprint([settings_of(settings), key, logs], [*_EMBEDDINGS, *_KEYED]),
    )


def _llm(bringup: Bringup) -> "ServeApp":
    config = bringup.config

    def build() -> "Application":
        from serve.inference.llm import build_llm

        return build_llm(config)

    return ServeApp(
        bringup,
        name="llm",
        after=("ray", "bundled model"),
        route=llm.ROUTE,
        probe=f"{llm.ROUTE}/v1/models",
        serves=", ".join(model.name for model in config.serving.models),
        imports="ray.serve.llm",
        build=build,
        made_of=lambda: fingerprint(
            [settings_of(*config.serving.models), config.data_dir, config.serving.api_key.get_secret_value()],
            [*(_INFERENCE / f"{name}.py" for name in ("llm", "llm_ingress", "engine_callback")), *_KEYED],
        ),
    )


def _samples(bringup: Bringup) -> "ServeApp":
    """The sample MCP servers. Their data is read here, so that nodes elsewhere need not see its folder."""
    config, key = bringup.config, bringup.config.serving.api_key.get_secret_value()
    folder, logs = config.mcp.samples, config.monitoring.logs
    assert folder is not None

    def build() -> "Application":
        from serve.samples.door import build_samples

        return build_samples(load_samples(folder), key, logs)

    return ServeApp(
        bringup,
        name="samples",
        after=("ray",),
        route=SAMPLES,
        probe=f"{SAMPLES}/mail/mcp",
        serves="sample MCP servers",
        imports="serve.samples.door",
        build=build,
        made_of=lambda: fingerprint(
            [key, logs, load_samples(folder).model_dump(mode="json")], [*_SAMPLES, *_KEYED]
        ),
    )


def _api(bringup: Bringup) -> "ServeApp":
    """The product's own endpoints. They find models and agents at run time, so they don't wait for them."""
    config = bringup.config

    def build() -> "Application":
        from serve.api import build_api

        return build_api(config, bringup.database_url)

    return ServeApp(
        bringup,
        name="api",
        after=("site",),
        route="/",
        probe="/health",
        serves="HTTP",
        imports="serve.api",
        build=build,
        made_of=lambda: fingerprint([settings_of(config), bringup.database_url], (*CODE, ROOT / "serve")),
    )


class ServeApp:
    """One application: its route, how it answers, how it is built and of what (a digest).

    `imports` is the module whose import takes most of the building, so it is done side by side.
    """

    def __init__(
        self,
        bringup: Bringup,
        *,
        name: str,
        after: tuple[str, ...],
        route: str,
        probe: str,
        serves: str,
        imports: str,
        build: "Callable[[], Application]",
        made_of: Callable[[], str],
    ) -> None:
        self.name = name
        self.after = after
        self._bringup = bringup
        self._route = route
        self._url = base_url(bringup.config) + probe
        self._serves = serves
        self._imports = imports
        self._build = build
        self._made_of = made_of

    def check(self) -> str | None:
        """Deployed, of the same making, running and answering."""
        if not self._bringup.fresh(self.name, self._made_of()) or self._http_moved():
            return None
        found = _status(self.name)
        up = found is not None and found.status == "RUNNING" and _answers(self._url)
        return self._detail() if up else None

    def repair(self, say: Say) -> str:
        """Deploy it unless Serve has it and is at work on it; wait until it answers."""
        made_of = self._made_of()
        found = _status(self.name)
        usable = found is not None and found.status in ("RUNNING", "DEPLOYING", "UNHEALTHY")
        if not (usable and self._bringup.fresh(self.name, made_of) and not self._http_moved()):
            say("importing")
            importlib.import_module(self._imports)
            with _SERVE:
                say("deploying")
                self._deploy(self._build())
            self._bringup.made(self.name, made_of)
        self._wait(say)
        return self._detail()

    def _deploy(self, app: "Application") -> None:
        import ray.serve as ray_serve

        config = self._bringup.config
        where = f"{config.http.host}:{config.http.port}"
        if self._http_moved():
            if config.ray.address is None:
                checks.check_port(config.http.host, config.http.port, "http.port")
            # A running proxy can't be moved to another port.
            ray_serve.shutdown()  # type: ignore[no-untyped-call]
            self._bringup.record(lambda state: {"deployed": _without_apps(state.deployed)})
        ray_serve.start(
            http_options={
                "host": config.http.host,
                "port": config.http.port,
                "location": "HeadOnly" if config.ray.address is None else "EveryNode",
            },
            # Of the proxy and of vLLM's replicas; ours have a form of their own (`actors.platform.logs`).
            logging_config={"encoding": "TEXT" if config.monitoring.logs == "text" else "JSON"},
        )
        self._bringup.record(lambda state: {"http": where})
        ray_serve.run_many(
            [ray_serve.RunTarget(target=app, name=self.name, route_prefix=self._route)],
            wait_for_ingress_deployment_creation=False,
            wait_for_applications_running=False,
        )

    def _http_moved(self) -> bool:
        http = self._bringup.config.http
        return self._bringup.state.http not in (None, f"{http.host}:{http.port}")

    def _wait(self, say: Say) -> None:
        timeout = self._bringup.config.serving.ready_timeout_seconds
        end = time.monotonic() + timeout
        told = ""
        while time.monotonic() < end:
            found = _status(self.name)
            if found is not None:
                told = _told(found)
                if found.status == "DEPLOY_FAILED":
                    raise ClusterProblem(f"{self.name} can't be deployed: {told} ({_logs(self._bringup)})")
                if found.status == "RUNNING" and _answers(self._url):
                    return
                say(f"{found.status.lower()}: {told}" if told else found.status.lower())
            time.sleep(_POLL_SECONDS)
        raise ClusterProblem(
            f"{self.name} did not answer within {timeout:g} s: {told or self._url}: raise "
            f"serving.ready_timeout_seconds, or see why ({_logs(self._bringup)})"
        )

    def _detail(self) -> str:
        return f"{self._serves} at {base_url(self._bringup.config)}{self._route}"


class OldApps:
    """Applications that are not asked for any more: they hold GPUs and answer on their routes."""

    name = "old applications"
    # What was made with them still calls them until it is replaced.
    after = ("runners", "dispatcher", "agents", "api")

    def __init__(self, bringup: Bringup) -> None:
        self._bringup = bringup

    def check(self) -> str | None:
        """There are none."""
        return None if self._left() else "none"

    def repair(self, say: Say) -> str:
        """Delete them."""
        import ray.serve as ray_serve

        left = self._left()
        for name in left:
            say(f"deleting {name}")
            with _SERVE:
                ray_serve.delete(name)
        self._bringup.record(
            lambda state: {"deployed": {name: of for name, of in state.deployed.items() if name not in left}}
        )
        return f"{', '.join(left)} deleted"

    def _left(self) -> list[str]:
        """On a cluster that is not ours, only those that we have deployed."""
        config, deployed = self._bringup.config, self._bringup.state.deployed
        return [
            name
            for name in ("llm", "embeddings", "samples")
            if name not in asked_for(config)
            and _status(name) is not None
            and (config.ray.address is None or name in deployed)
        ]


def asked_for(config: Config) -> list[str]:
    """The names of the applications that a configuration asks for."""
    served = {
        "embeddings": config.serving.embeddings,
        "llm": config.serving.models,
        "samples": config.mcp.samples,
    }
    return [*(name for name, settings in served.items() if settings), "api"]


def base_url(config: Config) -> str:
    """Where Serve's proxy is reached from this machine."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(config.http.host, config.http.host)
    return f"http://{f'[{host}]' if ':' in host else host}:{config.http.port}"


def _status(name: str) -> "ApplicationStatusOverview | None":
    import ray.serve as ray_serve

    with _SERVE:
        return ray_serve.status().applications.get(name)


def _told(found: "ApplicationStatusOverview") -> str:
    """The last line of what Serve says about the first deployment that is not well, or the application."""
    unwell = [d.message for d in found.deployments.values() if d.status != "HEALTHY" and d.message]
    lines = [line.strip() for line in "\n".join([*unwell[:1], found.message]).splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


def _logs(bringup: Bringup) -> str:
    head = bringup.state.ray
    folder = Path(head.temp_dir) / "session_latest/logs/serve" if head else "Serve's logs on the cluster"
    return f"more in {folder}"


def _without_apps(deployed: dict[str, str]) -> dict[str, str]:
    kept = ("ray", "site", "runners", "dispatcher", "agent:")
    return {name: made_of for name, made_of in deployed.items() if name.startswith(kept)}


def _answers(url: str) -> bool:
    import httpx2

    try:
        # Never through the site's proxy: this is one of our own ports.
        with httpx2.Client(trust_env=False, timeout=5) as client:
            return client.get(url).status_code < 500
    except httpx2.HTTPError:
        return False
