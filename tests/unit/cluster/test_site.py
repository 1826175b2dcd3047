"""What a job is told about the site: its settings without its secrets, or a file that must say the same."""

import json
from pathlib import Path

import pytest
import yaml

from actors.platform.runtime.site import Site, _settings, load_for
from actors.platform.systems import load
from actors.systems.knowledge.scraping.scraping_settings import ScrapingSettings
from models.config import WITHHELD, Config, lacks_secrets
from models.errors import ClusterProblem, ConfigInvalid
from tests.profile import write_yaml

ROOT = Path(__file__).resolve().parents[3]


def site_of(config: Config, root: Path = ROOT, file: Path | None = None) -> Site:
    """What `signoff up` would publish, after its way through the cluster's store."""
    site = Site(root=root, file=file, database_url="postgresql:///signoff", settings=_settings(config))
    return Site.model_validate_json(site.model_dump_json())


def test_a_job_finds_the_configuration_that_the_site_runs(config: Config) -> None:
    found = load_for(site_of(config), None)
    assert _settings(found) == _settings(config)
    assert found.article_generation.editor == config.article_generation.editor
    assert found.data_dir == config.data_dir


def test_the_secrets_stay_where_they_are(config: Config) -> None:
    site = site_of(config)
    secret = config.auth.secret
    assert secret is not None
    assert secret.get_secret_value() not in site.model_dump_json()
    found = load_for(site, None)
    assert found.auth.secret is not None
    assert found.auth.secret.get_secret_value() == WITHHELD
    assert found.article_generation.agents.writer_llm.api_key.get_secret_value() == WITHHELD
    assert found.database.url is None, "what is absent stays absent"


def test_a_job_where_the_site_was_brought_up_has_its_secrets(config_file: Path, config: Config) -> None:
    site = site_of(config, file=config_file)
    assert load_for(site, None) == config


@pytest.mark.parametrize("how", ["gone", "changed", "broken"])
def test_without_the_sites_own_file_a_job_goes_on_without_secrets(
    config_file: Path, config: Config, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    site = site_of(config, file=config_file)
    match how:
        case "gone":
            config_file.unlink()
        case "changed":
            raw = yaml.safe_load(config_file.read_text())
            raw["runners"]["count"] = 7
            write_yaml(config_file, raw)
        case "broken":
            config_file.write_text("{")
    found = load_for(site, None)
    assert _settings(found) == _settings(config)
    assert lacks_secrets(found)
    assert "going on without the site's secrets" in caplog.text


def test_what_lacks_secrets_is_told(config: Config) -> None:
    lacking = load_for(site_of(config), None)
    assert lacks_secrets({"settings": [ScrapingSettings.of(lacking), lacking.embedding]})
    assert not lacks_secrets({"settings": [ScrapingSettings.of(config), config.embedding]})
    assert not lacks_secrets({"settings": ScrapingSettings.of(lacking)}), "it has none"


def test_settings_of_another_release_are_named(config: Config) -> None:
    settings = _settings(config)
    settings["runners"].pop("lease_seconds")
    site = Site(root=ROOT, database_url="", settings=json.loads(json.dumps(settings)))
    with pytest.raises(ConfigInvalid, match=r"the site's settings: runners\.lease_seconds: is required"):
        load_for(site, None)


def test_a_relative_file_is_found_in_the_sites_folder(
    config_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load(config_file, root=tmp_path)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    site = site_of(config, root=tmp_path)
    assert load_for(site, Path(config_file.name)) == config
    with pytest.raises(ConfigInvalid, match=r"no\.yaml: can't be read"):
        load_for(site, Path("no.yaml"))


def test_another_configuration_is_refused(config_file: Path, config: Config) -> None:
    site = site_of(config)
    assert load_for(site, config_file) == config
    raw = yaml.safe_load(config_file.read_text())
    raw["runners"]["count"] = 7
    write_yaml(config_file, raw)
    with pytest.raises(ClusterProblem, match=r"differs at runners\.count"):
        load_for(site, config_file)
