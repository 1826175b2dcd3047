"""Models that name no endpoint are the site's own: at its proxy's address, with its key."""

from pathlib import Path
from typing import Any

import pytest

from actors.platform.systems import load
from models.config import Config, EmbeddingConfig, ModelSettings
from models.errors import ConfigInvalid
from tests.profile import write_yaml

ROOT = Path(__file__).resolve().parents[3]
OUTSIDE = "https://models.example/v1"


def site(folder: Path, said: dict[str, Any]) -> Config:
    """A site's own file, which extends configs/local.yaml."""
    file = folder / "own.yaml"
    write_yaml(file, {"extends": str(ROOT / "configs/local.yaml"), **said})
    return load(file, root=folder)


def models(config: Config) -> list[ModelSettings]:
    """Those of all agents."""
    editing = config.article_generation.agents
    desk = [editing.writer_llm, editing.article_review_llm, editing.concern_mapping_llm]
    specialists = [getattr(editing.specialists, name) for name in type(editing.specialists).model_fields]
    return [*desk, *specialists, config.chat.assistant_llm, config.drafting.llm]


def embedding(config: Config) -> EmbeddingConfig:
    return config.embedding


def test_a_key_of_the_sites_own_is_that_of_every_agent(tmp_path: Path) -> None:
    found = site(tmp_path, {"serving": {"api_key": "a-key-of-the-site"}})
    keys = {each.api_key.get_secret_value() for each in (*models(found), embedding(found))}
    assert keys == {"a-key-of-the-site"}
    assert len(models(found)) == 10


@pytest.mark.parametrize(
    ("said", "proxy"),
    [
        ({}, "http://127.0.0.1:8000"),
        ({"http": {"port": 9000}}, "http://127.0.0.1:9000"),
        ({"http": {"host": "localhost"}}, "http://localhost:8000"),
        ({"http": {"host": "10.1.2.3"}}, "http://10.1.2.3:8000"),
        ({"http": {"host": "0.0.0.0"}}, "http://127.0.0.1:8000"),
        ({"http": {"host": "::1"}}, "http://[::1]:8000"),
        ({"http": {"host": "::"}}, "http://[::1]:8000"),
        ({"http": {"host": "0.0.0.0"}, "ray": {"address": "head-svc:6379"}}, "http://head-svc:8000"),
        ({"ray": {"address": "[fd00::7]:6379"}}, "http://[fd00::7]:8000"),
    ],
)
def test_they_ask_the_proxy_where_it_is(said: dict[str, Any], proxy: str, tmp_path: Path) -> None:
    found = site(tmp_path, said | {"auth": {"secret": "0d1f4b0c5d7e6a8f9b2c3d4e5f60718293a4b5c6"}})
    assert {each.api_base for each in models(found)} == {f"{proxy}/llm/v1"}
    assert embedding(found).api_base == f"{proxy}/embeddings/v1"


@pytest.mark.parametrize(
    "base",
    ["http://127.0.0.1:8000/llm/v1", "http://127.0.0.1:8000/llm/v1/", "http://localhost:8000/llm/v1"],
)
def test_its_own_address_in_place_needs_no_key_either(base: str, tmp_path: Path) -> None:
    found = site(tmp_path, {"chat": {"assistant_llm": {"api_base": base}}})
    assert found.chat.assistant_llm.api_base == base
    assert found.chat.assistant_llm.api_key == found.serving.api_key


@pytest.mark.parametrize(
    "base",
    [
        OUTSIDE,
        "https://127.0.0.1:8000/llm/v1",
        "http://127.0.0.1:8001/llm/v1",
        "http://127.0.0.1:8000/v1",
        "http://127.0.0.1:8000/llm/v1?to=elsewhere",
        "http://127.0.0.1:8000/embeddings/v1",
        "http://127.0.0.1:8000@models.example/llm/v1",
        "http://127.0.0.1.models.example:8000/llm/v1",
        "http://127.0.0.1:port/llm/v1",
        "http://[::1/llm/v1",
    ],
)
def test_the_key_goes_nowhere_else(base: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match=r"chat\.assistant_llm\.api_key: is required") as refused:
        site(tmp_path, {"chat": {"assistant_llm": {"api_base": base}}})
    assert all("chat.assistant_llm.api_" in line for line in str(refused.value).splitlines())


def test_another_endpoint_has_a_key_of_its_own(tmp_path: Path) -> None:
    found = site(tmp_path, {"chat": {"assistant_llm": {"api_base": OUTSIDE, "api_key": "theirs"}}})
    assert found.chat.assistant_llm.api_key.get_secret_value() == "theirs"
    assert found.drafting.llm.api_key == found.serving.api_key


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("chat.assistant_llm", {"chat": {"assistant_llm": {"api_key": "old"}}}),
        ("embedding", {"embedding": {"api_key": "old"}}),
    ],
)
def test_a_key_that_the_site_would_refuse_is_refused_at_once(
    where: str, said: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "own.yaml"
    with pytest.raises(ConfigInvalid) as refused:
        site(tmp_path, said)
    told = str(refused.value).replace(str(file), "own.yaml")
    assert told.startswith(f"own.yaml: {where}: api_key differs from serving.api_key, which opens ")
    assert "\n" not in told
    assert "old" not in told


def test_the_same_key_in_place_will_do(tmp_path: Path) -> None:
    found = site(tmp_path, {"serving": {"api_key": "k"}, "chat": {"assistant_llm": {"api_key": "k"}}})
    assert found.chat.assistant_llm.api_key == found.serving.api_key


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"serving": {"api_key": ""}}, "serving.api_key: the secret is empty"),
        ({"serving": {"api_key": {"file": "no"}}}, "serving.api_key: can't read the secret file"),
        ({"http": {"port": "high"}}, "http.port: Input should be a valid integer"),
        ({"http": {"host": 5}}, "http.host: Input should be a valid string"),
        ({"ray": {"address": 5}}, "ray.address: Input should be a valid string"),
        ({"http": {"host": "http://10.0.0.1"}}, "http.host: 'http://10.0.0.1' is no address and no host's"),
        ({"http": {"host": "10.0.0.1:8000"}}, "http.host: '10.0.0.1:8000' is no address and no host's name"),
        ({"http": {"host": "my host"}}, "http.host: 'my host' is no address and no host's name"),
        ({"http": {"host": "10.0.0.300"}}, "http.host: '10.0.0.300' is no address and no host's name"),
        ({"ray": {"address": "auto"}}, "ray.address: 'auto' is no HOST:PORT, such as head:6379"),
        ({"ray": {"address": "ray://h:10001"}}, "ray.address: 'ray://h' is no address and no host's name"),
        ({"ray": {"address": "10.0.0.5:0"}}, "ray.address: '10.0.0.5:0' is no HOST:PORT"),
        ({"serving": 5}, "serving: Input should be a valid dictionary"),
    ],
)
def test_a_fault_of_theirs_is_told_once(said: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid) as refused:
        site(tmp_path, said)
    [line] = str(refused.value).splitlines()
    assert line.startswith(f"{tmp_path / 'own.yaml'}: {told}")
