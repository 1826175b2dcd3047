"""What a second `signoff up` starts anew: only what reads what has changed since the first."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.platform import systems
from actors.platform.runtime import directory
from actors.platform.systems import load
from actors.platform.text.classifying.weights_file import write_weights
from actors.systems.chat.routing.examples import read_intents
from actors.systems.chat.routing.weights_file import examples_digest, read_weights
from actors.systems.research.intents.classify import read_research_intents
from cluster.bringup import Bringup
from cluster.folders import ensure_writable
from cluster.parts import apps
from cluster.parts.agents import Agents
from cluster.parts.apps import OldApps, ServeApp, _without_apps
from cluster.parts.infrastructure import Head
from cluster.parts.workers import DispatcherPart, Runners
from cluster.state import fingerprint
from cluster.up import all_parts
from models.config.yaml_layers import read_layers
from models.errors import ConfigInvalid, PromptInvalid
from tests.profile import write_yaml

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[3]
CHAT = {
    "main_chat",
    "article_query",
    "analyst",
    "resource_query",
    "web_search",
    "data_download",
    "editor",
}
# These hold the whole configuration. The other agents hold their own settings and no more.
HOLDERS = {
    "runners",
    "dispatcher",
    "api",
    *CHAT,
    "fact_check",
    "evidence_finding",
    "scraper",
    "browser",
    "knowledge_index",
    "researcher",
}
SPECIALISTS = ("fact_check", "evidence_finding", "opinion", "attribution", "style_review")
NOTHING: set[str] = set()
EMBEDDING = {
    "knowledge_base",
    "search_index",
    "drafter",
    "writer",
    "extractor",
    "organizer",
}

# What each file under configs/ is made for: it restarts what keeps its text. What is read whenever it is
# needed restarts nothing: topics' prompts and market samples on each use, the knowledge base at each
# topic, topic files by each batch; tonalities are taken into the database by each `up`.
FILES: list[tuple[str, set[str]]] = [
    ("prompts/chat/*.md", CHAT),
    ("prompts/drafting/draft.md", {"drafter"}),
    ("prompts/drafting/choose.md", {"drafter"}),
    ("prompts/editorial/writer.md", {"writer"}),
    ("prompts/editorial/choose.md", {"writer"}),
    ("prompts/editorial/quotation_review.md", {"article_review"}),
    ("prompts/editorial/quotation_verdict.md", set(SPECIALISTS)),
    ("prompts/editorial/revision.md", {"writer"}),
    ("prompts/editorial/article_review.md", {"article_review"}),
    ("prompts/editorial/concern_mapping.md", {"concern_mapping"}),
    *((f"prompts/editorial/specialists/{name}.md", {name}) for name in SPECIALISTS),
    ("prompts/knowledge/extract.md", {"extractor"}),
    ("prompts/research/classify_message.md", {"intent_reader"}),
    ("prompts/research/judge_support.md", {"support_judge"}),
    ("prompts/research/*.md", {"organizer"}),
    ("prompts/operations/plan.md", {"planner"}),
    ("prompts/operations/choose_call.md", {"gmail", "accounts_payable", "crm"}),
    ("prompts/operations/write_summary.md", {"analysis"}),
    ("operations/report.typ", NOTHING),  # read at each export
    ("prompts/topics/*.md", NOTHING),
    ("prompts/tonalities/*.md", NOTHING),
    ("samples/knowledgebase/*", NOTHING),
    ("samples/topics/*.json", NOTHING),
    ("samples/market/*", NOTHING),
    ("samples/operations/*.yaml", NOTHING),  # a comment is no change here either; a word is, see below
    ("samples/*.yaml", NOTHING),
    # As code: they come with a release, and with it everything is begun anew.
    ("languages/*/*.yaml", NOTHING),
    ("languages/glossary.yaml", NOTHING),
    ("languages/schema.yaml", NOTHING),
    ("research/asking.yaml", NOTHING),  # a comment is no change here either
    # A comment is no change, nor is what made the weights: a word of a sign, and other weights, are below.
    ("research/signs.yaml", NOTHING),
    ("research/intents.npz", NOTHING),
    ("deploy/*.yaml", NOTHING),
    ("deploy/grafana/*.json", NOTHING),
    # A comment in a configuration is no change; its values are below.
    ("*.yaml", NOTHING),
]

# They belong together: changed alone they are refused, and trained anew they restart `main_chat`.
TRAINED = ("intents.yaml", "intents/voices/*.yaml", "intents/weights.npz")

VALUES: list[tuple[str, Any, set[str]]] = [
    ("article_generation.agents.writer_llm.temperature", 0.9, {"writer"}),
    ("article_generation.agents.specialists.opinion_llm.max_tokens", 99, {"opinion"}),
    ("article_generation.knowledge_base.top_k", 1, {"knowledge_base", "search_index"}),
    ("article_generation.knowledge_base.data_dir", "/elsewhere", {"knowledge_base", "search_index"}),
    ("embedding.timeout_seconds", 77.0, EMBEDDING),
    ("embedding.batch_size", 7, EMBEDDING),
    ("search.candidates", 7, {"search_index"}),
    ("article_generation.default_style_mode", "NATURE_NEWS", NOTHING),
    ("agents.style_review.num_cpus", 0.3, {"style_review"}),
    ("research.intents.ask_below", 0.5, {"intent_reader"}),
    ("research.tree.names", "model", {"organizer"}),
    ("research.synthesis.most_sentences", 5, {"organizer", "support_judge"}),
    ("chat.budget.tokens", 99, NOTHING),
    ("publishing.approval.quorum", 2, NOTHING),
    ("serving.models.0.engine.max_num_seqs", 3, {"llm"}),
    ("serving.embeddings.cpus_per_replica", 2, {"embeddings"}),
    ("ray.num_cpus", 5, {"ray"}),
    ("monitoring.logs", "json", {"embeddings", "samples", *systems.roles()}),
    ("mcp.servers.mail.timeout_seconds", 7.0, {"gmail"}),
]


class Place:
    """A copy of the shipped configuration's folder, and what a site made of it is made of."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.configs = root / "configs"
        shutil.copytree(ROOT / "configs", self.configs)

    def bringup(self) -> Bringup:
        return Bringup(load(self.configs / "local.yaml", root=self.root))

    def made_of(self) -> dict[str, str]:
        bringup = self.bringup()
        parts = [
            part
            for part in all_parts(bringup)
            if isinstance(part, Head | Runners | DispatcherPart | ServeApp)
        ]
        return {part.name: part._made_of() for part in parts} | Agents(bringup).made_of()

    def restarted(self, change: Callable[[], object]) -> set[str]:
        before = self.made_of()
        change()
        after = self.made_of()
        assert before.keys() == after.keys()
        return {name for name in before if before[name] != after[name]}

    def set(self, path: str, value: Any) -> None:
        raw = read_layers(self.configs / "local.yaml").merged()
        *parents, last = (int(key) if key.isdigit() else key for key in path.split("."))
        section = raw
        for key in parents:
            section = section[key] if isinstance(key, int) else section.setdefault(key, {})
        section[last] = value
        write_yaml(self.configs / "local.yaml", raw)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("site"))


@pytest.fixture
def restored(place: Place) -> Iterator[Place]:
    """The place, whose files are as shipped again afterwards."""
    yield place
    shutil.rmtree(place.configs)
    shutil.copytree(ROOT / "configs", place.configs)


PATTERNS = (*TRAINED, *(pattern for pattern, _ in FILES))


def kinds_of(configs: Path) -> Iterator[tuple[str, Path]]:
    """Every file under configs/ with the pattern that fits it."""

    def fits(name: Path, pattern: str) -> bool:
        return name.match(pattern) and len(name.parts) == len(Path(pattern).parts)

    for file in sorted(path for path in configs.rglob("*") if path.is_file()):
        name = file.relative_to(configs)
        yield next((pattern for pattern in PATTERNS if fits(name, pattern)), ""), file


def test_of_each_file_it_is_known_who_reads_it() -> None:
    unknown = [str(file) for pattern, file in kinds_of(ROOT / "configs") if not pattern]
    assert unknown == []
    seen = {pattern for pattern, _ in kinds_of(ROOT / "configs")}
    assert seen == set(PATTERNS)


@pytest.mark.parametrize(("pattern", "expected"), FILES)
def test_a_changed_file_restarts_what_keeps_its_text(
    pattern: str, expected: set[str], restored: Place
) -> None:
    file = next(file for kind, file in kinds_of(restored.configs) if kind == pattern)
    comment = {".md": "\nAnd briefly.\n", ".json": "\n"}.get(file.suffix, "\n# Another line.\n")
    content = file.read_bytes() + comment.encode()
    assert restored.restarted(lambda: file.write_bytes(content)) == expected


@pytest.mark.parametrize("name", ["intents.yaml", "intents/voices/night.yaml"])
def test_changed_examples_are_refused_until_they_are_trained(name: str, restored: Place) -> None:
    def change() -> None:
        file = restored.configs / name
        new = {"intents.yaml": "examples:\n  general:\n    - something that nobody has typed before\n"}
        old = file.read_text()
        more = '- {text: "never typed before", intent: general, language: en}\n'
        file.write_text(old.replace("examples:\n  general:\n", new[name]) if name in new else old + more)

    def train() -> None:
        intents = read_intents(restored.configs / "intents.yaml")
        write_weights(intents.weights, read_weights(intents.weights), examples_digest(intents))

    before = restored.made_of()
    change()
    with pytest.raises(ConfigInvalid, match="make train-intents"):
        restored.made_of()
    train()
    after = restored.made_of()
    assert {name for name in before if before[name] != after[name]} == {"main_chat"}


def test_a_word_of_a_sign_and_weights_that_are_trained_anew_restart_the_reader_of_intents(
    restored: Place,
) -> None:
    signs, weights = (restored.configs / "research" / name for name in ("signs.yaml", "intents.npz"))
    words = signs.read_text().replace("ausschliesslich,", "ausschliesslich, allenfalls,")
    assert restored.restarted(lambda: signs.write_text(words)) == {"intent_reader"}
    likeness = read_research_intents(signs, weights).likeness
    assert restored.restarted(lambda: write_weights(weights, likeness, "anew")) == {"intent_reader"}


def test_a_word_of_a_sample_restarts_the_sample_servers(restored: Place) -> None:
    file = restored.configs / "samples/operations/bills.yaml"
    words = file.read_text().replace("Whiteboards", "Blackboards")
    assert restored.restarted(lambda: file.write_text(words)) == {"samples"}


def test_samples_that_are_no_good_are_found_before_they_are_served(restored: Place) -> None:
    (restored.configs / "samples/operations/crm.yaml").unlink()
    with pytest.raises(ConfigInvalid, match=r"mcp\.samples: .*crm\.yaml is not there"):
        restored.made_of()


def test_a_chat_prompt_that_comes_or_goes(restored: Place) -> None:
    extra = restored.configs / "prompts/chat/extra.md"
    assert restored.restarted(lambda: extra.write_text("More.\n")) == CHAT
    assert restored.restarted(extra.unlink) == CHAT


@pytest.mark.parametrize(("path", "value", "expected"), VALUES)
def test_a_changed_value_restarts_what_holds_it(
    path: str, value: Any, expected: set[str], restored: Place
) -> None:
    assert restored.restarted(lambda: restored.set(path, value)) == expected | HOLDERS


def test_every_role_is_looked_at(place: Place) -> None:
    assert Agents(place.bringup()).made_of().keys() == set(systems.roles())


def test_a_file_that_is_no_good_is_found_before_anybody_asks(restored: Place) -> None:
    agents = Agents(restored.bringup())
    (restored.configs / "prompts/chat/system.md").write_text("{{ open")
    with pytest.raises(PromptInvalid, match=r"system\.md: not a valid template"):
        agents.check()
    (restored.configs / "prompts/chat/system.md").write_text("Fine.\n")
    (restored.configs / "intents.yaml").write_text(
        "voices: intents/voices\nweights: intents/weights.npz\nexamples: {general: [hi]}\n"
    )
    with pytest.raises(ConfigInvalid, match=r"intents\.yaml: examples: lacks"):
        agents.check()


@pytest.mark.parametrize("name", ["signs.yaml", "intents.npz"])
def test_a_file_of_the_intents_of_research_that_is_no_good_is_found_before_anybody_asks(
    name: str, restored: Place
) -> None:
    (restored.configs / "research" / name).write_text("nonsense: [a]")
    with pytest.raises(ConfigInvalid, match=name):
        Agents(restored.bringup()).check()


def test_what_runs_in_a_model_s_replica_is_in_its_digest(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apps, "fingerprint", lambda _, files: " ".join(file.name for file in files))
    made_of = {
        part.name: part._made_of() for part in all_parts(place.bringup()) if isinstance(part, ServeApp)
    }
    keyed = {"shared_key.py", "own_address.py", "bodies.py"}
    logging = {"replica_logs.py", "logs.py", "log_ids.py"}
    assert set(made_of["llm"].split()) == {"llm.py", "llm_ingress.py", "engine_callback.py"} | keyed
    assert set(made_of["embeddings"].split()) == {"embeddings.py", "encoder.py"} | logging | keyed
    assert set(made_of["samples"].split()) == {"samples", "normal_form.py"} | logging | keyed


def test_a_file_of_the_digest_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        fingerprint({}, [tmp_path / "renamed.py"])


def test_an_application_that_is_not_asked_for_any_more_is_deleted(
    restored: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = {"llm", "embeddings", "samples", "api", "another"}
    monkeypatch.setattr(apps, "_status", lambda name: name if name in there else None)
    monkeypatch.setattr("ray.serve.delete", there.remove)
    ensure_writable(restored.root / "data")
    for name in ("llm", "embeddings", "samples", "api"):
        restored.bringup().made(name, "x")
    assert OldApps(restored.bringup()).check() == "none"
    restored.set("serving.embeddings", None)
    restored.set("embedding.api_base", "http://elsewhere:8000/v1")
    restored.set("embedding.api_key", "theirs")
    restored.set("mcp", {"servers": {}})
    restored.set("operations.sources", {})
    bringup = restored.bringup()
    part = next(part for part in all_parts(bringup) if isinstance(part, OldApps))
    assert part.check() is None
    assert part.repair(lambda _: None) == "embeddings, samples deleted"
    assert there == {"llm", "api", "another"}
    assert restored.bringup().state.deployed.keys() == {"llm", "api"}
    assert OldApps(restored.bringup()).check() == "none"


class TestAgents:
    @pytest.fixture
    def stopped(self, monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
        """The roles that each call of `stop_agents` would stop, if all of them ran."""
        calls: list[set[str]] = []

        def stop(*, keep: set[str]) -> int:
            calls.append(set(systems.roles()) - keep)
            return len(calls[-1])

        monkeypatch.setattr(directory, "stop_agents", stop)
        return calls

    def test_only_stale_roles_are_stopped_and_once(self, restored: Place, stopped: list[set[str]]) -> None:
        ensure_writable(restored.root / "data")
        assert Agents(restored.bringup()).check() is None
        Agents(restored.bringup()).repair(lambda _: None)
        assert stopped == [set(systems.roles())]
        assert Agents(restored.bringup()).check() == "as configured"
        prompt = restored.configs / "prompts/editorial/writer.md"
        prompt.write_text(prompt.read_text() + "\nAnd briefly.\n")
        agents = Agents(restored.bringup())
        # Before the new runners and replicas are up this is done once more, and is not the last word.
        agents.stop_stale()
        assert agents.check() is None
        assert agents.repair(lambda _: None) == "1 stopped"
        assert stopped[1:] == [{"writer"}, {"writer"}]
        assert Agents(restored.bringup()).check() == "as configured"

    def test_on_a_head_that_is_new_nothing_is_old(self, restored: Place, stopped: list[set[str]]) -> None:
        """A replica of the API has started the first agent by then: a chat would find it gone."""
        ensure_writable(restored.root / "data")
        bringup = restored.bringup()
        bringup.head_is_new = True
        assert Agents(bringup).check() is None
        assert Agents(bringup).repair(lambda _: None) == "as configured"
        assert stopped == []
        assert Agents(restored.bringup()).check() == "as configured"

    def test_serve_that_is_started_anew_leaves_them_alone(self) -> None:
        deployed = {
            "ray": "1",
            "runners": "2",
            "dispatcher": "3",
            "agent:writer": "4",
            "api": "5",
            "llm": "6",
        }
        assert _without_apps(deployed).keys() == {"ray", "runners", "dispatcher", "agent:writer"}

    def test_they_wait_for_those_that_could_start_old_ones(self, place: Place) -> None:
        parts = {part.name: part for part in all_parts(place.bringup())}
        assert set(parts["agents"].after) == {"runners", "api"}
        assert parts["search index"].after == ("agents",)
