"""The configuration of a campaign's site: local.yaml with models and servers of the campaign's own."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actors.platform.systems import load
from models.config import Config
from tests.fakes.endpoints import with_keys
from tests.fakes.prose import in_prose
from tests.faults.site.books import BOOKS, NOTE, SEARCH, WRITTEN, BookServer
from tests.faults.site.pages import NEVER_READ
from tests.profile import local_profile, write_yaml

ROOT = Path(__file__).resolve().parents[3]
LEASE_SECONDS = 2.0
BATCH_SECONDS = 3.0
POOL_SIZE = 4


def configure(folder: Path, output: Path, model_url: str, books: Mapping[str, BookServer]) -> Config:
    """Write it into the folder as `config.yaml`, and load it."""
    raw = in_prose(local_profile())
    raw["data_dir"] = str(folder / "data")
    raw["runners"].update(count=1, lease_seconds=LEASE_SECONDS, poll_seconds=0.2, max_attempts=100)
    # Few enough that they are waited for.
    raw["database"]["pool_size"] = POOL_SIZE
    raw["outages"].update(patience_seconds=600, first_pause_seconds=0.2, longest_pause_seconds=1)
    raw["outgoing"]["allow_internal"] = ["127.0.0.0/8"]
    raw["webhooks"].update(timeout_seconds=3)
    raw["tools"]["rate_limit"] = {"calls": 100_000, "per_seconds": 60}
    raw["tools"]["rate_limits"] = {}
    editing = raw["article_generation"]
    editing["editor"]["prompts"]["root_dir"] = str(ROOT / "configs/prompts/editorial")
    editing["editor"]["output"].update(
        final_articles_dir=str(output / "articles"), run_artifacts_dir=str(output / "runs")
    )
    raw["knowledge"]["index"]["dir"] = str(output / "index")
    agents = editing["agents"]
    editing["batch"].update(lease_seconds=BATCH_SECONDS)
    models = [agents["writer_llm"], agents["article_review_llm"], agents["concern_mapping_llm"]]
    models += [*agents["specialists"].values(), raw["drafting"]["llm"]]
    for model in models:
        model.update(api_base=model_url, retry_delay=0.05, max_retries=2, timeout_seconds=30)
    raw["chat"]["assistant_llm"].update(api_base=model_url, retry_delay=0.05, timeout_seconds=30)
    raw["chat"]["tools"].update(calling="native", beside_sources=True)
    raw["chat"]["routing"]["ask_model"] = False
    raw["embedding"]["api_base"] = model_url
    raw["chat"]["prompts_dir"] = str(ROOT / "configs/prompts/chat")
    raw["drafting"]["prompts_dir"] = str(ROOT / "configs/prompts/drafting")
    _configure_research(raw, model_url)
    _configure_operations(raw, model_url, books)
    raw["chat"]["intents_file"] = str(ROOT / "configs/intents.yaml")
    raw["publishing"]["prompts_dir"] = str(ROOT / "configs/prompts")
    path = folder / "config.yaml"
    write_yaml(path, with_keys(raw))
    return load(path, root=folder)


def _configure_research(raw: dict[str, Any], model_url: str) -> None:
    research, extraction = raw["research"], raw["knowledge"]["extraction"]
    research["domains"] = {"never": [NEVER_READ]}
    research["tree"]["names"] = "model"
    research["synthesis"]["llm"]["writes"] = "prose"
    research["limits"]["plans"]["standard"]["max_workflows"] = 100
    extraction["prompts_dir"] = str(ROOT / "configs/prompts/knowledge")
    research["prompts_dir"] = str(ROOT / "configs/prompts/research")
    research["asking_file"] = str(ROOT / "configs/research/asking.yaml")
    files = {"weights_file": "intents.npz", "signs_file": "signs.yaml"}
    research["intents"].update({key: str(ROOT / "configs/research" / name) for key, name in files.items()})
    synthesis = research["synthesis"]
    for model in (
        extraction["llm"],
        research["tree"]["llm"],
        research["intents"]["llm"],
        synthesis["llm"],
        synthesis["checker_llm"],
    ):
        model.update(api_base=model_url, retry_delay=0.05, max_retries=2, timeout_seconds=30)


def _configure_operations(raw: dict[str, Any], model_url: str, books: Mapping[str, BookServer]) -> None:
    """Three servers of the campaign's own; the model plans and writes, and code chooses most calls."""
    raw["mcp"] = {
        "servers": {
            name: {"title": name, "http": {"url": book.url}, "tools": [SEARCH], "timeout_seconds": 3}
            | ({"writes": [NOTE]} if name == WRITTEN else {})
            for name, book in books.items()
        }
    }
    reading = [{"tool": SEARCH, "arguments": {"query": "{lead}"}}]
    operations = raw["operations"]
    operations.update(
        plans="model",
        writes="model",
        away_seconds=300,
        prompts_dir=str(ROOT / "configs/prompts/operations"),
        report_file=str(ROOT / "configs/operations/report.typ"),
        sources={
            agent: {"server": name, "service": f"{name}_mcp", "source": name, "reading": reading}
            for agent, name in BOOKS.items()
        },
    )
    for name in ("planner_llm", "agents_llm", "analysis_llm"):
        operations[name] = dict(operations[name])
        operations[name].update(api_base=model_url, retry_delay=0.05, max_retries=2, timeout_seconds=30)
