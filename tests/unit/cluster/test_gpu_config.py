"""configs/gpu.yaml: the Serve applications can be built from it, and the deploy files agree with it."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi import FastAPI
from fastapi.testclient import TestClient

from actors.platform.systems import load
from cluster.checks import check_resources
from cluster.parts.apps import base_url
from cluster.submit import dashboard_url
from models.config import Config
from models.config.yaml_layers import read_layers
from models.errors import ClusterProblem, ConfigInvalid
from serve.inference.embeddings import build_embeddings
from serve.inference.llm import build_llm, llm_settings

SECRETS = {
    "database_url": "postgresql://signoff:s3cret@db.internal:5432/signoff",
    "auth_secret": "3f1d0c5b7a9e2846d1b0f4a8c2e69753",
    "sealing_key": "5f0a8e2c9b",
    "serving_key": "8c1e7d3a64",
    "scrape_token": "e20b91f7c5",
}
CONFIGS = Path(__file__).resolve().parents[3] / "configs"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """gpu.yaml with its secret files in a folder of the test and a model folder that exists."""
    folder = tmp_path_factory.mktemp("gpu")
    for name, secret in SECRETS.items():
        (folder / name).write_text(f"{secret}\n")
    model = folder / "Qwen3-8B"
    model.mkdir()
    (model / "config.json").write_text('{"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3"}')
    text = (CONFIGS / "gpu.yaml").read_text(encoding="utf-8")
    text = text.replace("/run/secrets/signoff", str(folder)).replace("/models/Qwen3-8B", str(model))
    (folder / "gpu.yaml").write_text(text, encoding="utf-8")
    shutil.copy(CONFIGS / "base.yaml", folder)
    return load(folder / "gpu.yaml", root=CONFIGS.parent)


def test_the_secrets_are_files(config: Config) -> None:
    with pytest.raises(ConfigInvalid, match="database_url"):
        load(CONFIGS / "gpu.yaml")
    assert config.database.url is not None
    assert config.database.url.get_secret_value() == "postgresql://signoff:s3cret@db.internal:5432/signoff"


def secret_files(said: Any) -> list[dict[str, Any]]:
    """Every secret of a configuration that is in a file."""
    if isinstance(said, dict) and said.keys() <= {"file", "make"} and said:
        return [said]
    parts = said.values() if isinstance(said, dict) else said if isinstance(said, list) else ()
    return [found for part in parts for found in secret_files(part)]


def test_no_secret_is_made_in_a_pod_which_would_take_it_along() -> None:
    found = secret_files(read_layers(CONFIGS / "gpu.yaml").merged())
    assert [each for each in found if each.keys() != {"file"}] == []
    assert sorted(each["file"] for each in found) == sorted(
        f"/run/secrets/signoff/{name}" for name in SECRETS
    )
    text = (CONFIGS / "deploy/kuberay.yaml").read_text(encoding="utf-8")
    made = text.partition("kubectl create secret generic signoff ")[2].partition("kubectl create")[0]
    assert sorted(re.findall(r"--from-file=(\w+)", made)) == sorted(SECRETS)


@pytest.mark.heavy
def test_the_llm_application_is_built_without_a_cluster(config: Config) -> None:
    ray = pytest.importorskip("ray")
    pytest.importorskip("vllm")
    before = ray.is_initialized()
    ingress: Any = build_llm(config)._bound_deployment
    served = ingress.init_kwargs["llm_deployments"]["qwen3-8b"]._bound_deployment

    assert ray.is_initialized() == before
    bundles = served._replica_config.placement_group_bundles
    assert [bundle["GPU"] for bundle in bundles] == [1, 1]
    assert all("accelerator_type:L40S" in bundle for bundle in bundles)
    assert bundles[0]["CPU"] == 4
    scaling = served._deployment_config.autoscaling_config
    assert (scaling.min_replicas, scaling.max_replicas) == (1, 4)
    engine = served.init_kwargs["llm_config"].engine_kwargs
    assert engine["tensor_parallel_size"] == 2
    assert engine["enable_prefix_caching"] is True


def test_the_models_open_to_the_key_alone_and_to_no_browser(config: Config) -> None:
    pytest.importorskip("vllm")
    ingress: Any = build_llm(config)._bound_deployment
    cells = [cell.cell_contents for cell in ingress.func_or_class.__init__.__closure__]
    app = next(content for content in cells if isinstance(content, FastAPI))
    client = TestClient(app, raise_server_exceptions=False)
    origin = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    for answer in (client.get("/v1/models"), client.options("/v1/chat/completions", headers=origin)):
        assert answer.status_code == 401
        assert [name for name in answer.headers if name.startswith("access-control")] == []
    key = {"Authorization": f"Bearer {config.serving.api_key.get_secret_value()}"}
    assert client.get("/nowhere", headers=key).status_code == 404
    assert "access-control-allow-origin" not in client.get("/nowhere", headers=key | origin).headers


def test_tokens_are_streamed_at_once(config: Config) -> None:
    settings = llm_settings(config, config.serving.models[0])
    assert settings["experimental_configs"] == {"stream_batching_interval_ms": 0}
    assert settings["runtime_env"] == {"env_vars": {"HF_HUB_OFFLINE": "1"}}


def test_the_embeddings_application_is_built_without_a_cluster(config: Config) -> None:
    assert config.serving.embeddings is not None
    deployment: Any = build_embeddings(config.serving.embeddings, "k", "auto")._bound_deployment
    assert deployment.init_kwargs["name"] == "all-minilm-l6-v2"


def keys(value: Any, path: str = "") -> set[str]:
    """Every key path of a mapping, dotted."""
    if not isinstance(value, dict):
        return {path}
    return {path} | {key for name, item in value.items() for key in keys(item, f"{path}.{name}")}


def test_it_has_the_shape_of_local_yaml_without_a_small_models_limits() -> None:
    gpu, local = (keys(read_layers(CONFIGS / name).merged()) for name in ("gpu.yaml", "local.yaml"))
    assert not any("schema_limits" in key or "regex" in key for key in gpu)
    loose = (".url", ".address", ".file", ".make", "schema_limits", "extra_body")
    # Of the agents each says only what differs from its own `default`; MCP servers, and what is read
    # from them, are each site's own.
    own = (".agents.", ".mcp.", ".operations.sources")
    shapes = [
        {key for key in found if not any(part in key for part in loose) and not key.startswith(own)}
        for found in (gpu, local)
    ]
    assert shapes[0] == shapes[1]


def test_kuberay_agrees(config: Config) -> None:
    cluster = yaml.safe_load((CONFIGS / "deploy" / "kuberay.yaml").read_text(encoding="utf-8"))
    spec = cluster["spec"]
    assert cluster["kind"] == "RayCluster"
    assert spec["authOptions"]["mode"] == "token"
    assert config.ray.address == f"{cluster['metadata']['name']}-head-svc:6379"
    assert dashboard_url(config) == f"http://{cluster['metadata']['name']}-head-svc:8265"

    head = spec["headGroupSpec"]["template"]["spec"]["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in head["ports"]}
    assert ports["serve"] == config.http.port
    assert ports["dashboard"] == config.ray.dashboard_port

    workers = spec["workerGroupSpecs"][0]
    pod = workers["template"]["spec"]["containers"][0]
    model = config.serving.models[0]
    gpus = int(pod["resources"]["limits"]["nvidia.com/gpu"])
    assert gpus >= model.gpus_per_replica
    assert workers["minReplicas"] * gpus >= model.autoscaling.min_replicas * model.gpus_per_replica
    assert workers["maxReplicas"] * gpus >= model.autoscaling.max_replicas * model.gpus_per_replica
    raw = read_layers(CONFIGS / "gpu.yaml").merged()
    for mounts in (head["volumeMounts"], pod["volumeMounts"]):
        paths = [mount["mountPath"] for mount in mounts]
        for needed in (
            raw["serving"]["models"][0]["source"],
            raw["database"]["url"]["file"],
            raw["data_dir"],
        ):
            assert any(Path(needed).is_relative_to(path) for path in paths), needed
    # Pods of one cluster run one release of Ray: the one that is installed here.
    assert spec["rayVersion"] == pytest.importorskip("ray").__version__


def test_the_cluster_launcher_file_agrees(config: Config) -> None:
    cluster = yaml.safe_load((CONFIGS / "deploy" / "ray-cluster.yaml").read_text(encoding="utf-8"))
    start = cluster["head_start_ray_commands"][-1]
    assert f"--port={config.ray.port}" in start
    assert f"--dashboard-port={config.ray.dashboard_port}" in start
    model = config.serving.models[0]
    assert len(cluster["provider"]["worker_ips"]) == cluster["max_workers"]
    assert f"--num-gpus={model.gpus_per_replica}" in cluster["worker_start_ray_commands"][-1]
    assert cluster["max_workers"] >= model.autoscaling.max_replicas
    assert "--env=RAY_AUTH_MODE=token" in cluster["docker"]["run_options"]


def test_too_few_gpus_are_told_in_one_line(config: Config) -> None:
    assert check_resources(config, {"CPU": 32, "GPU": 2}) == "32 CPUs, 2 GPUs"
    with pytest.raises(ClusterProblem) as caught:
        check_resources(config, {"CPU": 32, "GPU": 1})
    assert str(caught.value).startswith("the models ask for 2 GPUs, the cluster has 1: ")
    assert "\n" not in str(caught.value)


def test_the_proxy_is_reached_on_loopback(config: Config) -> None:
    assert base_url(config) == "http://127.0.0.1:8000"
