"""The README's table of settings names all there are: whoever adds one has to say what it means."""

import re
from pathlib import Path

from models.config import AGENT_ROLES, Config
from models.config.fields import Section
from models.config.yaml_layers import read_layers

ROOT = Path(__file__).resolve().parents[2]


def table() -> list[str]:
    """The rows of the table under `## Configuration`, down to the first line that is none."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## Configuration\n")[2]
    rows = section.partition("| key | meaning |\n| --- | --- |\n")[2].splitlines()
    return rows[: next(at for at, row in enumerate(rows) if not row.startswith("|"))]


def keys(row: str) -> list[str]:
    """The key paths of a row: `.num_cpus` after `runners.count` is that section's, `….x` the desk's own."""
    found: list[str] = []
    for key in re.findall(r"`([^`]+)`", row.split("|")[1]):
        before = found[-1].rpartition(".")[0] if key.startswith(".") else ""
        found.append(before + key.replace("….", "article_generation."))
    return found


def two_levels(path: str) -> str:
    """A key path's first two parts, without what says that there may be many (`[]`, `<slug>`)."""
    return ".".join(part.removesuffix("[]") for part in path.split(".")[:2] if not part.startswith("<"))


def settings() -> set[str]:
    """Every setting of the first and second level, those that may be absent too."""
    found = set()
    for name, field in Config.model_fields.items():
        inner = field.annotation
        is_section = isinstance(inner, type) and issubclass(inner, Section)
        found |= {f"{name}.{key}" for key in inner.model_fields} if is_section else {name}
    return found


def test_every_setting_is_named_in_the_table() -> None:
    said: set[str] = set()
    for row in table():
        paths = keys(row)
        section = paths[0].partition(".")[0]
        said |= {two_levels(path) for path in paths} | {section}
        said |= {f"{section}.{word}" for word in re.findall(r"`\.?(\w+)", row.split("|", 2)[2])}
    assert sorted(settings() - said) == []


def test_no_row_is_of_a_setting_that_there_is_not_or_stands_twice() -> None:
    paths = [path for row in table() for path in keys(row)]
    assert len(paths) == len(set(paths))
    sections = {name.partition(".")[0] for name in settings()}
    there = settings() | sections | {f"agents.{name}" for name in ("default", *AGENT_ROLES)}
    assert [path for path in paths if two_levels(path) not in there] == []


def test_the_shipped_settings_are_all_known_to_it() -> None:
    """What the files set at the second level is what the models have, and so in the table."""
    raw = read_layers(ROOT / "configs/local.yaml").merged()
    shipped = {f"{name}.{key}" for name, said in raw.items() if isinstance(said, dict) for key in said}
    assert sorted(name for name in shipped - settings() if not name.startswith("agents.")) == []
