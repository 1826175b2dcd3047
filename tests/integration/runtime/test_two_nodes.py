"""A cluster of two nodes loses the one that does the work."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from models.config import Config
from tests.integration.conftest import RAY_ENVIRONMENT
from tests.integration.runtime import two_nodes
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.slow
def test_losing_the_node_that_holds_agents_and_runner_loses_no_work(
    configure: Callable[..., Config], database_url: str, tmp_path: Path
) -> None:
    configure(
        {
            "runners.count": 1,
            "runners.lease_seconds": 3,
            "article_generation.agents.writer_llm.api_base": f"http://127.0.0.1:{free_port()}/v1",
        }
    )
    # A process of its own: this one is connected to the Ray that the other tests share.
    told = subprocess.run(
        [sys.executable, "-m", two_nodes.__name__, str(tmp_path / "config.yaml"), database_url],
        cwd=ROOT,
        env={**os.environ, **RAY_ENVIRONMENT},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert told.returncode == 0, told.stdout[-3000:] + told.stderr[-6000:]
    assert "the other node took over" in told.stdout
