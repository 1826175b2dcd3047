"""LiteLLM's proxy, the usual gateway in front of vLLM: one worker, a master key, no database.

Its packages do not go together with ours, so it has an environment of its own under `build/`, made with uv
when it is first needed.
"""

import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import httpx2
import psutil
import yaml

ROOT = Path(__file__).resolve().parents[2]
VERSION = "1.106.2"
_ENVIRONMENT = ROOT / "build" / f"litellm-{VERSION}"
_START_SECONDS = 120.0


class Proxy(NamedTuple):
    """A proxy that answers: its address, the key it takes, the model's name, its process id."""

    url: str
    key: str
    model: str
    pid: int


def install() -> Path:
    """The `litellm` command, installed where it is not yet. Not in a network namespace: it downloads."""
    command = _ENVIRONMENT / "bin" / "litellm"
    if not command.exists():
        uv = Path(sys.executable).parent / "uv"
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", python, _ENVIRONMENT], check=True)
        python_there = _ENVIRONMENT / "bin" / "python"
        wanted = f"litellm[proxy]=={VERSION}"
        subprocess.run([uv, "pip", "install", "--quiet", "--python", python_there, wanted], check=True)
    return command


@contextmanager
def proxy(folder: Path, *, api_base: str, model: str) -> Iterator[Proxy]:
    """A proxy in front of an endpoint for as long as the block."""
    key = f"sk-{secrets.token_hex(32)}"
    config = folder / "litellm.yaml"
    behind = {"model": f"openai/{model}", "api_base": api_base, "api_key": "none"}
    config.write_text(
        yaml.safe_dump({"model_list": [{"model_name": model, "litellm_params": behind}]}), encoding="utf-8"
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "LITELLM_MASTER_KEY": key, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    environment.pop("PYTHONPATH", None)
    log = folder / "litellm.log"
    address = ["--host", "127.0.0.1", "--port", str(port)]
    command = [str(install()), "--config", str(config), *address, "--num_workers", "1"]
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)
    try:
        _await(f"http://127.0.0.1:{port}/health/liveliness", process, log)
        yield Proxy(f"http://127.0.0.1:{port}", key, model, process.pid)
    finally:
        with suppress(psutil.NoSuchProcess):
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
        process.kill()
        process.wait()


def _await(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    ends = time.monotonic() + _START_SECONDS
    while time.monotonic() < ends and process.poll() is None:
        with suppress(httpx2.HTTPError):
            if httpx2.get(url, timeout=1, trust_env=False).status_code == httpx2.codes.OK:
                return
        time.sleep(0.2)
    raise RuntimeError(f"LiteLLM does not answer: {log.read_text(encoding='utf-8')[-2000:]}")
