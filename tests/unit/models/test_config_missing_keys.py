"""Each key of the local profile, left out: the file is whole without it, or is refused by its path."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.unit.models.local_settings import RAW, accepted, at, refusal

Key = tuple[str | int, ...]


def keys(data: Any, before: Key = ()) -> Iterator[Key]:
    """Every key path of nested mappings and lists, parents too."""
    for key in data if isinstance(data, dict) else range(len(data)):
        yield (*before, key)
        # A secret in a file is one value: where it is, and whether it is made.
        if isinstance(data[key], dict | list) and "file" not in data[key]:
            yield from keys(data[key], (*before, key))


def is_optional(path: Key) -> bool:
    """Whether the file is whole without this key: it is open, has an empty default, or is one of many."""
    names = [str(part) for part in path]
    in_open_mapping = any(name in {"engine", "environment"} for name in names[:-1])
    has_default = bool({"environment", "schema_limits", "extra_body"} & set(names))
    other_style = path == ("article_generation", "allowed_styles", "NATURE_NEWS")
    topic = path[:2] == ("publishing", "topics") and (len(path) == 3 or path[3:] == ("approval",))
    own_limit = path[:2] == ("tools", "rate_limits") and len(path) < 4
    provider = path[:1] == ("outside",) and path[1:2] in {("search",), ("market_data",)} and len(path) > 2
    priority = path[-1] == "priority"
    role = path[:1] == ("agents",) and path[1:2] != ("default",) and len(path) > 1
    kind = path[:3] == ("knowledge", "redaction", "kinds") and len(path) > 3
    on_cpus = path == ("knowledge", "index", "embedders", "num_gpus")
    rated = path[:2] == ("research", "domains") and len(path) > 2  # a list that may be empty
    # One type of task of many, or one of the gates at which it stops.
    task_type = path[:2] == ("operations", "task_types") and len(path) in (3, 5)
    has_default = has_default or provider or priority or role or kind or on_cpus or rated or task_type
    no_server = path in {("mcp",), ("mcp", "servers")} or (path[:2] == ("mcp", "servers") and len(path) == 3)
    one_tool_less = path[:2] == ("mcp", "servers") and ("writes" in path or isinstance(path[-1], int))
    one_word_less = path[:2] == ("chat", "background") and len(path) > 3
    has_default = has_default or no_server or one_tool_less or one_word_less
    return bool(in_open_mapping or has_default or other_style or topic or own_limit)


def stands_alone(path: Key) -> bool:
    """Servers and their readings need each other; each is tried in tests of its own."""
    return path[:1] != ("mcp",) and path[:2] != ("operations", "sources")


@examples(150)
@given(path=st.sampled_from(sorted(filter(stands_alone, keys(RAW)), key=str)))
@pytest.mark.heavy
def test_a_missing_key_is_optional_or_refused_by_its_path(
    tmp_path_factory: pytest.TempPathFactory, path: Key
) -> None:
    data = deepcopy(RAW)
    holder, key = at(data, ".".join(map(str, path)))
    del holder[int(key) if isinstance(holder, list) else key]
    folder = tmp_path_factory.mktemp("config")
    if is_optional(path):
        accepted(folder, data)
    elif path == ("article_generation", "allowed_styles", "SCIAM_MAGAZINE"):
        assert "'SCIAM_MAGAZINE' is not one of allowed_styles" in refusal(folder, data)
    elif path == ("agents", "default"):
        told = refusal(folder, data)
        assert "agents.host_turns.replicas: is required" in told  # it says only what is its own
    elif path == ("serving", "embeddings"):
        assert "embedding.model_name: all-minilm-l6-v2 is not served here" in refusal(folder, data)
    elif path == ("serving", "models", 0):
        assert refusal(folder, data).count("is not served here (serving.models: none)") == 18
    elif path == ("auth", "secret"):
        assert "auth: tokens can't be checked: set secret" in refusal(folder, data)
    elif path == ("mcp", "samples"):
        assert refusal(folder, data).count("http.sample: the sample servers are not served here") == 3
    elif path[:2] == ("mcp", "servers") and path[-1] == "http":
        assert f"{'.'.join(map(str, path[:-1]))}: give http or stdio" in refusal(folder, data)
    elif path[:2] == ("mcp", "servers") and path[-1] == "sample":
        assert f"{'.'.join(map(str, path[:-1]))}.url: is required" in refusal(folder, data)
    elif path[:2] == ("auth", "decide") and len(path) > 2:
        assert "auth.decide: claim and values: give both, or neither" in refusal(folder, data)
    elif isinstance(path[-1], int) or path[:-1] == ("research", "limits", "plans"):  # that may not be empty
        assert refusal(folder, data).startswith(".".join(map(str, path[:-1])) + ": ")
    else:
        assert f"{'.'.join(map(str, path))}: is required" in refusal(folder, data).splitlines()
