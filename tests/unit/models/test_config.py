"""The configuration is strict: whatever is wrong is refused with file, key path and reason."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from actors.platform import systems
from actors.platform.systems import load
from models.config import KnowledgeBaseEvidence, OutsideEvidence
from models.errors import ConfigInvalid
from tests.unit.models.local_settings import LOCAL, RAW, WHOLE, accepted, changed, refusal

SPECIALIST = "article_generation.agents.specialists.opinion_llm"


def test_the_local_configuration_loads_with_paths_under_the_root(tmp_path: Path) -> None:
    config = load(LOCAL, root=tmp_path)
    assert config.data_dir == tmp_path / "data"
    editorial = config.article_generation
    assert editorial.editor.prompts.root_dir == tmp_path / "configs/prompts/editorial"
    assert isinstance(editorial.evidence, KnowledgeBaseEvidence)
    assert editorial.agents.specialists.opinion_llm.api_key == config.serving.api_key
    assert "development-only" not in repr(config)


def test_a_configuration_can_not_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        load(LOCAL).http.port = 1


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("databse", {}, "is not a known key"),
        ("http.prot", 80, "is not a known key"),
        (f"{SPECIALIST}.thinking_mode", True, "is not a known key"),
        ("http.port", "8000", "Input should be a valid integer"),
        ("http.port", True, "Input should be a valid integer"),
        ("http.port", 70000, "Input should be less than or equal to 65535"),
        ("http.port", None, "Input should be a valid integer"),
        ("http.host", 1, "Input should be a valid string"),
        ("http.host", " ", "String should have at least 1 character"),
        ("runners.lease_seconds", float("inf"), "Input should be a finite number"),
        ("runners.lease_seconds", float("nan"), "Input should be a finite number"),
        ("data_dir", "", "the path is empty"),
        ("data_dir", None, "must be a path"),
        ("auth.secret", "", "the secret is empty"),
        ("auth.secret", "  ", "the secret is empty"),
        ("auth.secret", "<REQUIRED_NON_EMPTY_STRING>", "the secret is still the template's placeholder"),
        ("auth.secret", "short", "an HS256 secret needs at least 32 characters (RFC 7518 §3.2)"),
        ("auth.secret", 12345, "Input should be a valid string"),
        ("auth.secret", {"env": "SECRET"}, "a secret is a text, or {file: PATH}"),
        ("auth.jwks", {}, "give file or url, and not both"),
        ("auth.jwks", {"file": "a", "url": "https://b"}, "give file or url, and not both"),
        ("auth.leeway_seconds", -1, "Input should be greater than or equal to 0"),
        ("publishing.topics", {}, "Dictionary should have at least 1 item"),
        ("publishing.topics", {"global": {"title": "All"}}, "'global' can't name a topic"),
        ("publishing.topics", {"Macro": {"title": "Macro"}}, "'Macro' can't name a topic"),
        ("publishing.approval.quorum", 0, "Input should be greater than or equal to 1"),
        ("publishing.approval.role", "chief", "Input should be 'reader', 'editor', 'analyst' or 'admin'"),
        ("outgoing.allow_internal", ["10.0.0.1/8"], "10.0.0.1/8 has host bits set"),
        ("chat.sources", 26, "Input should be less than or equal to 25"),
        ("drafting.max_resources", 51, "Input should be less than or equal to 50"),
        (f"{SPECIALIST}.api_key", "", "the secret is empty"),
        (f"{SPECIALIST}.api_base", "127.0.0.1:8000/v1", "must start with http:// or https://"),
        (f"{SPECIALIST}.timeout_seconds", 0, "Input should be greater than 0"),
        (f"{SPECIALIST}.max_retries", -1, "Input should be greater than or equal to 0"),
        ("serving.models.0.cpus_per_replica", "1", "Input should be a valid number"),
        ("article_generation.evidence.provider", "google", "must be one of 'knowledge_base', "),
        ("article_generation.evidence.api_key", "x", "is not a known key"),
        ("article_generation.allowed_styles.NATURE_NEWS", "", "String should have at least 1 character"),
    ],
)
def test_a_wrong_value_is_refused_by_key_path_and_reason(
    tmp_path: Path, path: str, value: Any, reason: str
) -> None:
    assert refusal(tmp_path, changed(path, value)).startswith(f"{path}: {reason}")


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    data = changed("http.port", "8000")
    del data["auth"]["issuer"]
    told = refusal(tmp_path, data).splitlines()
    assert [line.split(": ")[0] for line in told] == ["http.port", "auth.issuer"]


def test_the_key_path_of_outside_evidence_is_the_one_in_the_file(tmp_path: Path) -> None:
    outside = {"provider": "openai_compatible", "api_base": "https://search.example/v1", "model": "sonar"}
    told = refusal(tmp_path, changed("article_generation.evidence", outside))
    assert told.splitlines() == [
        "article_generation.evidence.api_key: is required",
        "article_generation.evidence.timeout_seconds: is required",
    ]


def test_a_secret_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("pplx-123\n")
    outside = {
        "provider": "openai_compatible",
        "api_base": "https://search.example/v1",
        "api_key": {"file": "key"},
        "model": "sonar",
        "timeout_seconds": 5,
    }
    evidence = accepted(tmp_path, changed("article_generation.evidence", outside)).article_generation.evidence
    assert isinstance(evidence, OutsideEvidence)
    assert evidence.api_key.get_secret_value() == "pplx-123"


@pytest.mark.parametrize(("content", "reason"), [(None, "can't read the secret file"), ("\n", "is empty")])
def test_a_secret_file_that_says_nothing_is_refused(tmp_path: Path, content: str | None, reason: str) -> None:
    if content is not None:
        (tmp_path / "secret").write_text(content)
    told = refusal(tmp_path, changed("auth.secret", {"file": "secret"}))
    assert told.startswith("auth.secret: ")
    assert reason in told
    assert content is not None or str(tmp_path / "secret") in told


def test_a_key_written_twice_is_refused_with_both_lines(tmp_path: Path) -> None:
    text = WHOLE.replace("  replicas: 1\n", "  replicas: 1\n  replicas: 2\n", 1)
    line = text.splitlines().index("  replicas: 1") + 1
    assert refusal(tmp_path, text) == f"http.replicas: stands twice, in line {line} and in line {line + 1}"


def test_a_merge_key_is_no_duplicate(tmp_path: Path) -> None:
    text = WHOLE.replace(
        "      opinion_llm: *specialist\n",
        "      opinion_llm:\n        <<: *specialist\n        temperature: 0.9\n",
    )
    specialists = accepted(tmp_path, text).article_generation.agents.specialists
    assert specialists.opinion_llm.temperature == 0.9
    assert specialists.attribution_llm.temperature == 0.2
    assert specialists.opinion_llm.max_tokens == specialists.attribution_llm.max_tokens


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("http: [", "not valid YAML"),
        ("a: !!python/object:os.system x", "not valid YAML"),
        ("[a]: 1", "not valid YAML"),
        pytest.param("a: " + "[" * 200_000, "not valid YAML: it nests deeper than 100", id="nested"),
        ("- http", "the file holds a list: it must hold a mapping of sections"),
        ("", "the file is empty: it must hold a mapping of sections"),
        ("5: 6", "5: in line 1 is read as int, and a key is a text: put it in quotes"),
        ("publishing:\n  topics:\n    no: {}", "publishing.topics.no: in line 3 is read as bool, and a key"),
        ("retention: {000: 1}", "retention.000: in line 1 is read as int"),
        ("http:\n  port: 010000", "http.port: the number in line 2 is read in base 8 or 60"),
        (
            "outages: {patience_seconds: 1:00:00}",
            "outages.patience_seconds: the number in line 1 is read in base",
        ),
        ("a: [1, [-0_7]]", "a.1.0: the number in line 1 is read in base 8 or 60"),
    ],
)
def test_what_is_no_mapping_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    assert refusal(tmp_path, text).startswith(reason)


def test_numbers_that_say_their_base_are_read(tmp_path: Path) -> None:
    text = WHOLE.replace("  replicas: 1\n", "  replicas: 1\n  port: 0x2328\n", 1)
    assert accepted(tmp_path, text).http.port == 9000


def served_twice(data: Any) -> None:
    data["serving"]["models"].append(data["serving"]["models"][0])


def not_served(data: Any) -> None:
    data["chat"]["assistant_llm"]["model"] = "smollm-135m"


def wide(data: Any) -> None:
    data["chat"]["assistant_llm"]["context_window"] = 32768


def full(data: Any) -> None:
    data["drafting"]["llm"].update(context_window=500, max_tokens=500)


def other_embeddings(data: Any) -> None:
    data["embedding"]["model_name"] = "all-minilm-l6"


def one_port(data: Any) -> None:
    data["http"]["port"] = data["ray"]["dashboard_port"]


def impatient(data: Any) -> None:
    data["outages"]["patience_seconds"] = data["operations"]["away_seconds"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (served_twice, "serving: models: two are named smollm2-135m-instruct: give each"),
        (not_served, "chat.assistant_llm.model: smollm-135m is not served here (serving.models: smollm2"),
        (
            wide,
            "chat.assistant_llm.context_window: is 32768, but smollm2-135m-instruct is served with max_mo",
        ),
        (full, "drafting.llm: max_tokens is 500, but prompt and answer share a context_window of 500"),
        (
            other_embeddings,
            "embedding.model_name: all-minilm-l6 is not served here (serving.embeddings: all-",
        ),
        (
            impatient,
            "operations.away_seconds: is 900 s, but what waits fails after outages.patience_seconds (900 s), "
            "and nobody would be asked: set it to less than that, or outages.patience_seconds to more",
        ),
        (one_port, "http.port: 8265 is ray.dashboard_port, too: set one of them to another port"),
    ],
)
def test_settings_that_disagree_are_refused(change: Callable[[Any], None], told: str, tmp_path: Path) -> None:
    data = deepcopy(RAW)
    change(data)
    assert refusal(tmp_path, data).startswith(told)


def test_a_site_without_operations_waits_as_long_as_it_likes(tmp_path: Path) -> None:
    data = changed("outages.patience_seconds", 60)
    data["operations"]["sources"] = {}
    assert accepted(tmp_path, data).outages.patience_seconds == 60


def test_a_window_that_the_engine_fits_to_its_memory_bounds_nobody(tmp_path: Path) -> None:
    data = deepcopy(RAW)
    data["serving"]["models"][0]["engine"]["max_model_len"] = -1
    assert accepted(tmp_path, data).chat.assistant_llm.context_window == 8192


def test_a_model_that_is_elsewhere_needs_not_be_served_here(tmp_path: Path) -> None:
    data = deepcopy(RAW)
    data["chat"]["assistant_llm"].update(
        api_base="http://other:1/v1", api_key="k", model="big", context_window=9**9
    )
    assert accepted(tmp_path, data).chat.assistant_llm.model == "big"


@pytest.mark.parametrize(
    "url", ["http://", "http://:80", "http://a b", "http://h:99999", "http://h:0", "http://[::1"]
)
def test_an_address_that_can_not_be_is_refused(url: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, changed("publishing.public_url", url)).startswith("publishing.public_url: ")


def test_a_file_that_can_not_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match=r"none\.yaml: can't be read: No such file"):
        load(tmp_path / "none.yaml")
    with pytest.raises(ConfigInvalid, match="can't be read: Is a directory"):
        load(tmp_path)
    (tmp_path / "latin.yaml").write_bytes(b"data_dir: caf\xe9")
    with pytest.raises(ConfigInvalid, match="not valid YAML: it is not UTF-8, at byte"):
        load(tmp_path / "latin.yaml")


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (
            "article_generation.knowledge_base.chunk_size_tokens",
            512,
            "article_generation.knowledge_base: chunk_size_tokens is 512, but all-minilm-l6-v2 reads 256",
        ),
        (
            "embedding.max_input_tokens",
            128,
            "article_generation.knowledge_base: chunk_size_tokens is 256, but all-minilm-l6-v2 reads 128",
        ),
        (
            "article_generation.knowledge_base.chunk_overlap_tokens",
            256,
            "article_generation.knowledge_base: chunk_overlap_tokens must be smaller",
        ),
        (
            "article_generation.default_style_mode",
            "TABLOID",
            "article_generation: default_style_mode 'TABLOID' is not one of allowed_styles: NATURE_NEWS, ",
        ),
        (
            "serving.models.0.gpus_per_replica",
            2,
            "serving.models.0: gpus_per_replica is 2, but the engine's tensor × pipeline parallel size is 1",
        ),
        (
            "serving.models.0.engine.tensor_parallel_size",
            None,
            "serving.models.0: engine.tensor_parallel_size must be a whole number from 1 up, not None",
        ),
        (
            "serving.embeddings.autoscaling.min_replicas",
            2,
            "serving.embeddings.autoscaling: min_replicas is 2, more than max_replicas, 1",
        ),
    ],
)
def test_values_that_do_not_go_together_are_refused(tmp_path: Path, path: str, value: Any, told: str) -> None:
    assert refusal(tmp_path, changed(path, value)).startswith(told)


def test_an_embedding_that_stands_where_it_stood_is_told_its_place(tmp_path: Path) -> None:
    data = changed("article_generation.knowledge_base.embedding", RAW["embedding"])
    told = "article_generation.knowledge_base.embedding: is not a known key here: its settings belong under "
    assert refusal(tmp_path, data) == told + "embedding, at the top level"


def test_every_editorial_agent_has_its_resources() -> None:
    assert set(systems.roles()) <= set(load(LOCAL).agents)


@pytest.mark.parametrize(
    "written",
    [
        'password: "hunter2swordfish',
        "{api_key: hunter2: swordfish}",
        *(f"api_key: {sign}hunter2swordfish" for sign in "*%`@"),
        "api_key: !hunter2swordfish x",
        r'password: "hunter2\qswordfish"',
        "pin: 0123456",
    ],
)
def test_what_is_no_yaml_is_told_without_a_word_of_it(tmp_path: Path, written: str) -> None:
    told = refusal(tmp_path, f"http:\n  port: 8000\n{written}\n")
    assert "line" in told
    assert not any(part in told for part in ("hunter2", "swordfish", "0123456"))
