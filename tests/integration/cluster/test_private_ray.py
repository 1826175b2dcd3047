"""A head of ours, for real: nobody else gets at its sessions, and what it writes is private."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cluster import ray
from models.config import Config
from tests.ports import free_ports

Configure = Callable[..., Config]


@pytest.mark.slow
def test_its_folder_is_closed_and_its_processes_write_for_us_alone(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    port, dashboard = free_ports(2)
    config = configure(
        {
            "data_dir": str(tmp_path / "data"),
            "ray.port": port,
            "ray.dashboard_port": dashboard,
            "ray.num_cpus": 1,
            "ray.object_store_memory_mb": 80,
        }
    )
    ray.ensure_token()
    head = ray.start_head(config)
    try:
        folder = Path(head.temp_dir)
        assert folder.parent.stat().st_mode & 0o777 == 0o700
        assert folder.parent.stat().st_uid == os.geteuid()
        umasks = set()
        for process in ray.processes(head):
            status = Path(f"/proc/{process.pid}/status").read_text()
            umasks.update(re.findall(r"Umask:\s*(\d+)", status))
        assert umasks == {"0077"}
    finally:
        ray.stop(head)
