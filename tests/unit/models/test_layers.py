"""Configurations in layers: what `extends` merges, what it refuses, and which file a fault is laid at."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from actors.platform import systems
from actors.platform.systems import load
from models.config import Config, without_secrets
from models.config.yaml_layers import Layers, read_layers
from models.errors import ConfigInvalid
from tests.profile import write_yaml

ROOT = Path(__file__).resolve().parents[3]
CONFIGS = ROOT / "configs"
DEFAULT = {"num_cpus": 0.1, "replicas": 1, "max_concurrency": 4}


def copied(folder: Path, name: str) -> Path:
    """A shipped configuration with the file it extends, and secrets that are there."""
    (folder / "database_url").write_text("postgresql://signoff@db.internal/signoff\n")
    for secret in ("auth_secret", "sealing_key", "serving_key", "scrape_token"):
        (folder / secret).write_text("0123456789abcdef0123456789abcdef\n")
    for file in ("base.yaml", name):
        text = (CONFIGS / file).read_text(encoding="utf-8")
        (folder / file).write_text(text.replace("/run/secrets/signoff", str(folder)), encoding="utf-8")
    return folder / name


@pytest.mark.parametrize("name", ["local", "gpu"])
def test_they_say_nothing_that_the_base_says(name: str) -> None:
    """Nothing twice: a value that is as in base.yaml has no place in a file that extends it."""
    (_, upper), (_, lower) = read_layers(CONFIGS / f"{name}.yaml").files

    def twice(said: Any, base: Any, path: str = "") -> list[str]:
        if isinstance(said, dict) and isinstance(base, dict):
            return [key for k, v in said.items() if k in base for key in twice(v, base[k], f"{path}.{k}")]
        return [path] if said == base else []

    assert twice(upper, lower) == []


def test_the_site_of_your_own_in_the_docs(tmp_path: Path) -> None:
    page = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    [text] = [block for block in page.split("```yaml\n")[1:] if block.startswith("extends: ")]
    copied(tmp_path, "local.yaml")
    (tmp_path / "own.yaml").write_text(text.partition("```")[0], encoding="utf-8")
    found = load(tmp_path / "own.yaml", root=tmp_path)
    assert (found.http.port, found.http.host) == (9000, "127.0.0.1")
    assert list(found.publishing.topics) == ["macro", "equity", "fixed_income", "energy"]


def layers(folder: Path, **files: Any) -> Path:
    """Files by name; the path of the first."""
    for name, content in files.items():
        write_yaml(folder / f"{name}.yaml", content)
    return folder / f"{next(iter(files))}.yaml"


def refusal(path: Path) -> str:
    with pytest.raises(ConfigInvalid) as refused:
        load(path, root=path.parent)
    return str(refused.value)


class TestMerging:
    def test_mappings_are_merged_and_the_rest_is_replaced(self, tmp_path: Path) -> None:
        base = {"a": {"x": 1, "y": {"z": 2}}, "list": [1, 2], "text": "old", "gone": {"x": 1}, "was": 1}
        top = {"extends": "b.yaml", "a": {"y": {"w": 3}}, "list": [3], "text": {"file": "f"}, "gone": None}
        found = read_layers(layers(tmp_path, t=top, b=base)).merged()
        assert found == {
            "a": {"x": 1, "y": {"z": 2, "w": 3}},
            "list": [3],
            "text": {"file": "f"},
            "was": 1,
        }

    def test_three_deep_and_from_other_folders(self, tmp_path: Path) -> None:
        (tmp_path / "shared").mkdir()
        layers(
            tmp_path / "shared", middle={"extends": "lowest.yaml", "b": 2}, lowest={"a": 1, "b": 1, "c": 1}
        )
        top = layers(tmp_path, top={"extends": "shared/middle.yaml", "c": 3})
        assert read_layers(top).merged() == {"a": 1, "b": 2, "c": 3}

    def test_what_an_alias_shares_is_merged_for_each(self, tmp_path: Path) -> None:
        base = "a: &one {x: 1}\nb: *one\n"
        found = read_layers(layers(tmp_path, t={"extends": "b.yaml", "a": {"x": 2}}, b=base)).merged()
        assert found == {"a": {"x": 2}, "b": {"x": 1}}

    @pytest.mark.parametrize(
        ("said", "found"),
        [
            ({"file": "own"}, {"file": "own"}),
            ({"file": "own", "make": None}, {"file": "own"}),
            ({"file": "own", "make": True}, {"file": "own", "make": True}),
            ({"make": False}, {"file": "base", "make": False}),
            ("in place", "in place"),
        ],
    )
    def test_a_secret_is_one_value(self, said: Any, found: Any, tmp_path: Path) -> None:
        base = {"key": {"file": "base", "make": True}}
        assert read_layers(layers(tmp_path, t={"extends": "b.yaml", "key": said}, b=base)).merged() == {
            "key": found
        }

    def test_other_mappings_with_a_file_are_merged(self, tmp_path: Path) -> None:
        """Narrower algorithms of the extended file are not lost with it."""
        base = {"jwks": {"file": "base", "algorithms": ["EdDSA"]}}
        top = {"extends": "b.yaml", "jwks": {"file": "own"}}
        assert read_layers(layers(tmp_path, t=top, b=base)).merged() == {
            "jwks": {"file": "own", "algorithms": ["EdDSA"]}
        }

    @given(
        st.recursive(
            st.integers() | st.text(max_size=3),
            lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            max_leaves=8,
        ).filter(lambda value: isinstance(value, dict))
    )
    def test_a_layer_that_says_nothing_or_the_same_changes_nothing(self, said: dict[str, Any]) -> None:
        for other in ({}, said):
            for pair in ((other, said), (said, other)):
                assert Layers(tuple((Path("x"), one) for one in pair)).merged() == said


class TestRefusals:
    def test_a_circle(self, tmp_path: Path) -> None:
        top = layers(tmp_path, a={"extends": "b.yaml"}, b={"extends": "a.yaml"})
        assert refusal(top) == (
            f"{tmp_path / 'b.yaml'}: extends: a.yaml extends this file in turn: break the circle"
        )
        further = layers(tmp_path, a={"extends": "b.yaml"}, b={"extends": "c.yaml"}, c={"extends": "b.yaml"})
        assert refusal(further).startswith(
            f"{tmp_path / 'c.yaml'}: extends: b.yaml extends this file in turn"
        )
        alone = layers(tmp_path, a={"extends": "./a.yaml"})
        assert refusal(alone).startswith(f"{alone}: extends: ./a.yaml extends this file in turn")

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        top = layers(tmp_path, a={"extends": "no.yaml"})
        assert refusal(top) == (
            f"{top}: extends: there is no file {tmp_path / 'no.yaml'}: name it relative to this one"
        )

    @pytest.mark.parametrize("name", [1, ["b.yaml"], "", {}, True])
    def test_what_names_no_file(self, name: Any, tmp_path: Path) -> None:
        top = layers(tmp_path, a={"extends": name})
        assert refusal(top).startswith(f"{top}: extends: must be the name of one file")

    def test_a_key_twice_is_laid_at_its_file(self, tmp_path: Path) -> None:
        top = layers(tmp_path, a={"extends": "b.yaml"}, b="x: 1\nx: 2\n")
        assert refusal(top) == f"{tmp_path / 'b.yaml'}: x: stands twice, in line 1 and in line 2"

    def test_anchors_do_not_cross_files(self, tmp_path: Path) -> None:
        top = layers(tmp_path, a="extends: b.yaml\ny: *one\n", b="x: &one 1\n")
        assert refusal(top).startswith(f"{top}: not valid YAML: found undefined alias")

    def test_each_fault_names_the_file_in_which_its_value_stands(self, tmp_path: Path) -> None:
        top = copied(tmp_path, "local.yaml")
        base = tmp_path / "base.yaml"
        base.write_text(base.read_text().replace("port: 8000", "port: high\n  prot: 1"))
        raw = yaml.safe_load(top.read_text())
        raw["runners"]["count"] = 0
        raw["http"]["hots"] = "127.0.0.1"
        del raw["data_dir"]
        raw["article_generation"]["evidence"] = {"provider": "oracle"}
        write_yaml(top, raw)
        told = sorted(line.replace(str(tmp_path), "") for line in refusal(top).splitlines())
        assert [line.rpartition(": ")[0] for line in told] == [
            "/base.yaml: http.port",
            "/base.yaml: http.prot",
            "/local.yaml: article_generation.evidence.provider",
            "/local.yaml: data_dir",
            "/local.yaml: http.hots",
            "/local.yaml: runners.count",
        ]

    def test_what_was_taken_away_is_missed_in_the_file_asked_for(self, tmp_path: Path) -> None:
        top = copied(tmp_path, "local.yaml")
        top.write_text(top.read_text().replace("  replicas: 1\n", "  replicas: 1\n  port: null\n", 1))
        assert refusal(top) == f"{top}: http.port: is required"

    @pytest.mark.parametrize("secret", ["serving.api_key", "http.scrape_token"])
    def test_a_mistyped_secret_file_is_refused_and_not_made(self, secret: str, tmp_path: Path) -> None:
        copied(tmp_path, "local.yaml")
        section, _, key = secret.partition(".")
        top = layers(tmp_path, t={"extends": "local.yaml", section: {key: {"file": "secrets/kye"}}})
        assert refusal(top).splitlines() == [
            f"{top}: {secret}: can't read the secret file {tmp_path}/secrets/kye: No such file or directory"
        ]
        assert not (tmp_path / "secrets").exists()


DECIDES = {"audience": "signoff-people"}


class TestWordsForNoBound:
    """What is without bounds says so with a word: `null` would only take away what is extended."""

    @pytest.mark.parametrize(
        ("below", "said", "found"),
        [
            ({"decide": DECIDES}, {"decide": "any_token"}, "any_token"),
            ({"decide": "any_token"}, {"decide": DECIDES}, DECIDES),
            ({"decide": DECIDES}, {}, DECIDES),
        ],
    )
    def test_any_token_decides(self, below: Any, said: Any, found: Any, tmp_path: Path) -> None:
        copied(tmp_path, "local.yaml")
        middle = {"extends": "local.yaml", "auth": {"decide": None}}  # local.yaml's claim is not wanted
        top = {"extends": "m.yaml", "auth": said}
        files = {"t": top, "m": {"extends": "n.yaml", "auth": below}, "n": middle}
        decide = load(layers(tmp_path, **files), root=tmp_path).auth.decide
        assert (decide if isinstance(decide, str) else decide.model_dump(exclude_defaults=True)) == found

    @pytest.mark.parametrize(
        ("below", "said", "found"), [(30, "forever", "forever"), ("forever", 30, 30.0), (30, 7.5, 7.5)]
    )
    def test_conversations_are_kept_forever(self, below: Any, said: Any, found: Any, tmp_path: Path) -> None:
        copied(tmp_path, "local.yaml")
        days = "conversations_days"
        middle = {"extends": "local.yaml", "retention": {days: below}}
        top = {"extends": "m.yaml", "retention": {days: said}}
        config = load(layers(tmp_path, t=top, m=middle), root=tmp_path)
        assert config.retention.conversations_days == found

    @pytest.mark.parametrize(
        ("setting", "said", "told"),
        [
            ("auth.decide", "anybody", "Input should be 'any_token'"),
            ("auth.decide", "", "Input should be 'any_token'"),
            ("auth.decide", True, "Input should be a valid dictionary"),
            ("auth.decide", {}, "give claim and values, or audience; any_token instead lets each decide"),
            ("retention.conversations_days", "never", "Input should be 'forever'"),
            ("retention.conversations_days", 0, "Input should be greater than 0"),
            ("retention.conversations_days", True, "Input should be a valid number"),
        ],
    )
    def test_no_other_word_is_one(self, setting: str, said: Any, told: str, tmp_path: Path) -> None:
        copied(tmp_path, "local.yaml")
        section, _, key = setting.partition(".")
        # What is no mapping replaces what local.yaml says; an empty one is merged with it.
        taken = layers(tmp_path, n={"extends": "local.yaml", section: {key: None}})
        top = layers(tmp_path, t={"extends": taken.name, section: {key: said}})
        [line] = refusal(top).splitlines()
        assert line.startswith(f"{top}: {setting}: {told}")

    @pytest.mark.parametrize(
        ("setting", "word"), [("auth.decide", "any_token"), ("retention.conversations_days", "forever")]
    )
    @pytest.mark.heavy
    def test_null_takes_away_or_is_told_the_word(self, setting: str, word: str, tmp_path: Path) -> None:
        below = copied(tmp_path, "local.yaml")
        section, _, key = setting.partition(".")
        top = layers(tmp_path, t={"extends": "local.yaml", section: {key: None}})
        assert refusal(top) == f"{top}: {setting}: is required"
        raw = read_layers(below).merged()
        raw[section][key] = None
        alone = layers(tmp_path, alone=raw)
        assert refusal(alone) == (
            f"{alone}: {setting}: null only takes away what an extended file says: say {word}"
        )

    def test_they_travel_with_the_site(self, tmp_path: Path) -> None:
        copied(tmp_path, "local.yaml")
        words = {"auth": {"decide": "any_token"}, "retention": {"conversations_days": "forever"}}
        config = load(layers(tmp_path, t={"extends": "local.yaml", **words}), root=tmp_path)
        found = without_secrets(json.loads(config.model_dump_json()))
        assert (found.auth.decide, found.retention.conversations_days) == ("any_token", "forever")


class TestAgents:
    def resolved(self, folder: Path, agents: Any) -> Config:
        top = copied(folder, "local.yaml")
        raw = yaml.safe_load(top.read_text()) | {"agents": agents}
        write_yaml(top, raw)
        return load(top, root=folder)

    def test_a_role_says_only_what_differs(self, tmp_path: Path) -> None:
        found = self.resolved(tmp_path, {"default": DEFAULT, "writer": {"replicas": 3}}).agents
        assert found.keys() == set(systems.roles())
        assert found["writer"].model_dump() == DEFAULT | {"replicas": 3}
        assert found["editor"].model_dump() == DEFAULT

    def test_without_a_default_each_role_is_required(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigInvalid, match=r"agents\.editor: is required"):
            self.resolved(tmp_path, {role: DEFAULT for role in systems.roles() if role != "editor"})

    @pytest.mark.parametrize(
        ("name", "told"),
        [
            ("knowlege_base", "did you mean knowledge_base or knowledge_index?"),
            ("Writer", "did you mean writer or drafter?"),
            ("evidence", "did you mean evidence_finding?"),
            ("zzz", f"there are {', '.join(systems.roles())}"),
        ],
    )
    def test_what_is_no_role_is_laid_at_its_file(self, name: str, told: str, tmp_path: Path) -> None:
        below = copied(tmp_path, "local.yaml")
        top = layers(tmp_path, t={"extends": below.name, "agents": {name: {"num_cpus": 4}, "analyst": {}}})
        assert refusal(top) == f"{top}: agents.{name}: is no agent's role: {told}"

    def test_what_is_no_role_and_what_is_missing_are_told_at_once(self, tmp_path: Path) -> None:
        said = {role: DEFAULT for role in systems.roles() if role != "writer"} | {"writter": DEFAULT}
        with pytest.raises(ConfigInvalid) as refused:
            self.resolved(tmp_path, said)
        assert [line.partition(": ")[2] for line in str(refused.value).splitlines()] == [
            "agents.writter: is no agent's role: did you mean writer?",
            "agents.writer: is required",
        ]

    @pytest.mark.parametrize(
        ("agents", "told"),
        [
            ({"default": DEFAULT | {"replicas": 0}}, "agents.default.replicas: "),
            ({"default": {"replicas": 1, "max_concurrency": 1}}, "agents.default.num_cpus: is required"),
            ({"default": None}, "agents.default: "),
            ({"default": DEFAULT, "writer": {"cpus": 1}}, "agents.writer.cpus: is not a known key"),
            ({"default": DEFAULT, "writer": 3}, "agents.writer: "),
            ({"default": DEFAULT | {"replicas": 2}}, "agents: knowledge_base.replicas must be 1"),
        ],
    )
    def test_a_fault_is_told_once(self, agents: Any, told: str, tmp_path: Path) -> None:
        with pytest.raises(ConfigInvalid) as refused:
            self.resolved(tmp_path, agents)
        assert str(refused.value).startswith(f"{tmp_path / 'local.yaml'}: {told}")
        where = told.partition(": ")[0]
        assert [line for line in str(refused.value).splitlines() if where not in line] == []
