"""`signoff status` where Ray or Serve does not answer: it says so, and shows what is known."""

from types import SimpleNamespace
from typing import Any

import pytest

from cluster import ray, status
from models.config import Config


def test_what_ray_can_t_answer_is_a_problem_beside_what_is_known(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray as ray_package
    import ray.serve as ray_serve
    import ray.util.state as ray_state
    from ray.serve.exceptions import RayServeException
    from ray.util.state.exception import RayStateApiException

    def fails(error: Exception) -> Any:
        def ask(*_: object, **__: object) -> Any:
            raise error

        return ask

    node = {"NodeManagerAddress": "10.0.0.1", "Alive": True, "Resources": {"CPU": 2.0}}
    monkeypatch.setattr(ray, "alive", lambda _: True)
    monkeypatch.setattr(ray, "connect", lambda _: None)
    monkeypatch.setattr(ray_package, "nodes", lambda: [node])
    context = SimpleNamespace(get_node_id=lambda: "n")
    monkeypatch.setattr(ray_package, "get_runtime_context", lambda: context)
    monkeypatch.setattr(ray_state, "list_actors", fails(RayStateApiException("no\nreply of the dashboard")))
    monkeypatch.setattr(ray_serve, "status", fails(RayServeException("the controller is gone")))
    found = status.collect(config)
    assert [(node.address, node.cpus) for node in found.nodes] == [("10.0.0.1", 2.0)]
    database, actors, apps = found.problems
    assert "the database" in database
    assert actors.startswith("can't ask Ray for its actors: reply of the dashboard: try again")
    assert apps.startswith("can't ask Ray for Serve's applications: the controller is gone: ")
    monkeypatch.setattr(ray_package, "nodes", fails(ConnectionError("the control store is away")))
    _, nodes = status.collect(config).problems
    assert nodes.startswith("can't ask Ray for its nodes: the control store is away: ")


@pytest.mark.heavy
def test_what_could_not_be_asked_is_not_said_to_be_missing(config: Config) -> None:
    nothing = status.Status()
    assert status.shortfalls(config, nothing, known=()) == []
    assert len(status.shortfalls(config, nothing, known=("agents",))) == 2
    assert all("application" in told for told in status.shortfalls(config, nothing, known=("apps",)))
