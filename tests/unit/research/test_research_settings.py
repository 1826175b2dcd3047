"""The section `research`: domains in place or from a file, and every fault told where it can be corrected."""

from pathlib import Path
from typing import Any

import pytest

from actors.systems.research.discovery.pages import Ratings
from models.config import DomainsConfig, load
from models.errors import ConfigInvalid
from tests.profile import write_yaml

ROOT = Path(__file__).parents[3]


def site(folder: Path, **research: Any) -> Path:
    """A site's configuration that says some things of research."""
    path = folder / "site.yaml"
    said = {"extends": str(ROOT / "configs/local.yaml"), "research": research}
    write_yaml(path, said)
    return path


def test_the_shipped_settings_show_ten_to_fifty_candidates() -> None:
    research = load(ROOT / "configs/local.yaml", root=ROOT).research
    assert (research.candidates.least, research.candidates.most) == (10, 50)
    assert research.domains == DomainsConfig()
    assert research.asking_file.is_file()


def test_the_shipped_settings_name_the_files_of_intents() -> None:
    shipped = load(ROOT / "configs/local.yaml", root=ROOT).research.intents
    assert shipped.signs_file == ROOT / "configs/research/signs.yaml"
    assert shipped.weights_file == ROOT / "configs/research/intents.npz"
    assert (shipped.ask_below, shipped.asks) == (0.8, "nobody")


def test_a_bound_that_is_no_probability_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match=r"research\.intents\.ask_below"):
        load(site(tmp_path, intents={"ask_below": 80}), root=tmp_path)


def test_domains_stand_in_place(tmp_path: Path) -> None:
    domains = load(site(tmp_path, domains={"trust": ["NBP.pl."], "never": ["spam.example"]})).research.domains
    assert (domains.trust, domains.prefer, domains.never) == (("nbp.pl",), (), ("spam.example",))


def test_domains_come_from_a_file_relative_to_the_root(tmp_path: Path) -> None:
    (tmp_path / "domains.yaml").write_text("trust: [nbp.pl]\nnever: [Żółw.pl]\n", encoding="utf-8")
    domains = load(site(tmp_path, domains="domains.yaml"), root=tmp_path).research.domains
    assert (domains.trust, domains.never) == (("nbp.pl",), ("xn--w-uga1v8h.pl",))


@pytest.mark.parametrize(
    ("domains", "told"),
    [
        ({"trust": ["co.uk"]}, "research.domains.trust.0: 'co.uk' is a public suffix"),
        ({"never": ["https://x.org/"]}, "research.domains.never.0: 'https://x.org/' is no domain: write"),
        ({"trust": ["x.org"], "never": ["X.org"]}, "x.org is in trust and in never: leave it in one of them"),
        ({"avoid": ["x.org"]}, "research.domains.avoid: is not a known key"),
        ("nowhere.yaml", "nowhere.yaml: can't be read: No such file or directory"),
    ],
)
def test_a_fault_names_the_key_and_the_remedy(domains: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid) as refused:
        load(site(tmp_path, domains=domains), root=tmp_path)
    assert told in str(refused.value)
    assert str(refused.value).startswith(str(tmp_path / "site.yaml"))


def test_a_fault_in_the_file_of_domains_names_that_file(tmp_path: Path) -> None:
    (tmp_path / "domains.yaml").write_text("prefer: [gov.pl]\n", encoding="utf-8")
    with pytest.raises(ConfigInvalid) as refused:
        load(site(tmp_path, domains="domains.yaml"), root=tmp_path)
    assert f"{tmp_path}/domains.yaml: prefer.0: 'gov.pl' is a public suffix" in str(refused.value)


def test_least_is_not_more_than_most(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="least is 20, and most is 10: set least to most or less"):
        load(site(tmp_path, candidates={"least": 20, "most": 10}))


def test_the_nearest_domain_rates_a_host() -> None:
    ratings = Ratings(DomainsConfig(never=("example.org",), prefer=("data.example.org",), trust=("nbp.pl",)))
    assert ratings.of_host("www.example.org") == "never"
    assert ratings.of_host("x.data.example.org") == "prefer"
    assert ratings.of_host("NBP.pl.") == "trust"
    assert ratings.of_host("notnbp.pl") == "neutral"


def test_the_shipped_plan_has_room_for_what_a_site_of_its_own_can_do() -> None:
    limits = load(ROOT / "configs/local.yaml", root=ROOT).research.limits
    assert limits.of("macro").model_dump() == {
        "max_urls": 50,
        "max_tool_calls": 500,
        "max_duration_seconds": 14400,
        "max_llm_tokens": 5_000_000,
        "max_workflows": 3,
    }


def test_a_topic_has_its_own_plan(tmp_path: Path) -> None:
    deep = {"max_urls": 200, "max_tool_calls": 9, "max_duration_seconds": 9, "max_llm_tokens": 9}
    said = {"plans": {"deep": deep | {"max_workflows": 1}}, "topics": {"macro": "deep"}}
    limits = load(site(tmp_path, limits=said), root=tmp_path).research.limits
    assert (limits.of("macro").max_urls, limits.of("equities").max_urls) == (200, 50)


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (
            {"topics": {"macro": "deep"}},
            "limits: topics.macro is deep, which is no plan: name one of plans (standard), or add it",
        ),
        ({"default": "deep"}, "research.limits: default is deep, which is no plan"),
        ({"topics": {"makro": "standard"}}, "research.limits.topics.makro: there is no topic makro"),
        ({"plans": {"standard": {"max_urls": 201}}}, "research.limits.plans.standard.max_urls"),
        ({"plans": {"standard": {"max_llm_tokens": 0}}}, "research.limits.plans.standard.max_llm_tokens"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(limits: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid) as refused:
        load(site(tmp_path, limits=limits), root=tmp_path)
    assert told in str(refused.value)
