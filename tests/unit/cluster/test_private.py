"""What is ours alone: no secret in an upload, and nobody's folders opened for the database's user."""

import os
import pwd
import shutil
import zipfile
from pathlib import Path

import pytest
from ray._private.runtime_env.packaging import create_package

from actors.platform.runtime import site
from actors.platform.systems import load
from cluster.postgres import system_user
from cluster.ray import session_folder
from models.errors import ClusterProblem
from tests.profile import local_profile, write_yaml

ROOT = Path(__file__).resolve().parents[3]
SECRET = "a secret that nobody else may ever see, at all"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder to submit from: code, and configurations with a secret in various places."""
    made = tmp_path / "checkout"
    (made / "configs" / "prompts").mkdir(parents=True)
    (made / "pipelines").mkdir()
    (made / "pipelines" / "edit_articles.py").write_text("__main__")
    (made / "configs" / "prompts" / "writer.md").write_text("Write.")
    for place in ("configs/local.yaml", "configs/mine.yaml", "mine.yaml"):
        raw = local_profile()
        raw["auth"]["secret"] = SECRET
        write_yaml(made / place, raw)
    shutil.copy(ROOT / ".rayignore", made)
    return made


def uploaded(folder: Path, left_out: list[str]) -> dict[str, str]:
    """What Ray makes of the folder: the files of the package, with their texts."""
    package = folder.parent / "package.zip"
    create_package(str(folder), package, include_gitignore=True, excludes=left_out)
    with zipfile.ZipFile(package) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist() if not name.endswith("/")}


def test_no_configuration_is_uploaded_by_ray_job_submit_where_they_are_kept(folder: Path) -> None:
    (folder / "mine.yaml").unlink()
    files = uploaded(folder, [])
    assert "pipelines/edit_articles.py" in files
    assert [name for name, text in files.items() if SECRET in text] == []


def test_a_job_reads_the_site_s_own_configuration(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load(folder / "configs/local.yaml", root=folder)
    here = site.Site(root=folder, database_url="postgresql:///x", settings=site._settings(config))
    (tmp_path / "upload").mkdir()
    monkeypatch.chdir(tmp_path / "upload")
    found = site.load_for(here, Path("configs/local.yaml"))
    assert found.auth.secret is not None
    assert found.auth.secret.get_secret_value() == SECRET


def test_ray_s_folder_lies_in_a_private_one_and_leaves_its_sockets_room(folder: Path) -> None:
    config = load(folder / "configs/local.yaml", root=folder)
    longest = session_folder(config) / "session_2026-11-22_12-13-01_123456_4194304/sockets/plasma_store.1234"
    assert len(os.fsencode(longest)) <= 107


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as somebody else")
class TestServersUser:
    owner = pwd.struct_passwd(("somebody", "x", 12345, 12345, "", "/", "/bin/false"))

    def test_a_closed_folder_stays_closed_and_the_data_lie_elsewhere(self, tmp_path: Path) -> None:
        home, data_dir = tmp_path / "var", tmp_path / "root" / "signoff" / "data"
        data_dir.mkdir(parents=True)
        (tmp_path / "root").chmod(0o700)
        modes = {path: path.stat().st_mode for path in (data_dir, *data_dir.parents)}
        place = system_user.ensure_reachable(data_dir / "postgres", self.owner, home)
        assert place.is_relative_to(home)
        assert (data_dir / "postgres").resolve() == place
        assert {path: path.stat().st_mode for path in modes} == modes
        # The link is what tells: another start finds the same, and a new data folder gets another.
        assert system_user.ensure_reachable(data_dir / "postgres", self.owner, home) == place
        (data_dir / "postgres").unlink()
        assert system_user.ensure_reachable(data_dir / "postgres", self.owner, home) != place

    def test_data_that_can_not_be_reached_any_more_are_not_left_behind(self, tmp_path: Path) -> None:
        (tmp_path / "data" / "postgres").mkdir(parents=True)
        tmp_path.chmod(0o700)
        with pytest.raises(ClusterProblem, match="put a link to it in its place"):
            system_user.ensure_reachable(tmp_path / "data" / "postgres", self.owner, tmp_path / "var")

    def test_programs_that_can_not_be_read_are_copied_and_left_as_they_are(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        programs = tmp_path / "venv" / "package" / "pginstall" / "bin"
        programs.mkdir(parents=True)
        (programs / "postgres").write_text("")
        (programs / "postgres").chmod(0o700)
        (tmp_path / "venv").chmod(0o700)
        monkeypatch.setattr(system_user, "binaries", lambda: programs)
        found = system_user.programs(self.owner, tmp_path / "var")
        assert found.is_relative_to(tmp_path / "var")
        assert (found / "postgres").stat().st_mode & 0o777 == 0o755
        assert (programs / "postgres").stat().st_mode & 0o777 == 0o700
        assert system_user.programs(self.owner, tmp_path / "var") == found
