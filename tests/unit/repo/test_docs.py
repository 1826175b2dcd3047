"""What the pages name is there: files, modules, links, commands, sections of designs that code cites."""

import re
from functools import cache
from pathlib import Path

import pytest

from cluster.cli.signoff import app

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        ROOT / "requirements/README.md",
        ROOT / "configs/samples/market/README.md",
    ]
)
PACKAGES = "actors|benchmarks|cluster|models|pipelines|serve|tests"
PATH = re.compile(rf"(?<![\w/.-])(?:{PACKAGES}|configs|docs|requirements)/[\w./-]*\w|[\w-]+\.py\b")
MODULE = re.compile(rf"(?<![\w/.`-])`?((?:{PACKAGES})(?:\.\w+)+)(?![\w/])")
LINK = re.compile(r"\]\(([^)\s]+)\)")
# Of a design, the sections that are told: `**§6.1** …` in its part of docs/origins.md.
TOLD = re.compile(r"§(\d+(?:\.\d+)*)")

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@cache
def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


@cache
def python_files() -> frozenset[str]:
    """The names of all Python files, for those that are named without their folder."""
    folders = [*PACKAGES.split("|")]
    return frozenset(path.name for folder in folders for path in (ROOT / folder).rglob("*.py"))


def is_there(path: str) -> bool:
    return (ROOT / path).exists() if "/" in path else path in python_files() or path == "system.py"


@cache
def written_by(page: Path) -> frozenset[str]:
    """The modules that are whole on the page: the first line of each says where it goes."""
    return frozenset(re.findall(r"^```python\n# (\S+\.py)$", text_of(page), re.MULTILINE))


def names_something(dotted: str) -> bool:
    """Whether it is a module, or something that a module's text has at its left edge."""
    parts = dotted.split(".")
    for at in range(len(parts), 0, -1):
        stem = ROOT.joinpath(*parts[:at])
        file = stem.with_suffix(".py") if stem.with_suffix(".py").is_file() else stem / "__init__.py"
        if file.is_file():
            name = "".join(parts[at : at + 1])
            return (
                not name
                or re.search(
                    rf"^\W*(?:async )?(?:def |class |from .* as )?{name}\b|import {name}",
                    file.read_text(encoding="utf-8"),
                    re.MULTILINE,
                )
                is not None
            )
    return False


@cache
def anchors(page: Path) -> frozenset[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.+)$", text_of(page), re.MULTILINE)
    return frozenset(re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings)


@pages
def test_files_and_folders_that_it_names_are_there(page: Path) -> None:
    known = written_by(page)
    assert [path for path in PATH.findall(text_of(page)) if path not in known and not is_there(path)] == []


@pages
def test_modules_that_it_names_are_there(page: Path) -> None:
    known = {path.removesuffix(".py").replace("/", ".") for path in written_by(page)}
    names = [name for name in MODULE.findall(text_of(page)) if name not in known]
    assert [name for name in names if not names_something(name)] == []


@pages
def test_its_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(text_of(page)):
        path, _, anchor = link.partition("#")
        if "://" in link:
            continue
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pages
def test_commands_that_it_names_are_there(page: Path) -> None:
    code = "\n".join(_code(page))
    targets = set(
        re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    commands = {command.callback.__name__ for command in app.registered_commands if command.callback}
    groups = (group.typer_instance for group in app.registered_groups)
    commands |= {str(group.info.name) for group in groups if group is not None}
    assert set(re.findall(r"(?:^|\n)make ([a-z][\w-]*)", code)) - targets == set()
    assert set(re.findall(r"(?:^|\n|/bin/|\()signoff ([a-z]+)", code)) - commands == set()


def _code(page: Path) -> list[str]:
    """What stands as code: lines of shell, and words between back-ticks."""
    blocks = re.findall(r"```sh\n(.*?)```", text_of(page), re.DOTALL)
    return blocks + re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL))


def test_the_readme_names_every_page_and_is_short() -> None:
    readme = text_of(ROOT / "README.md")
    assert [
        page.name for page in PAGES if page.parent == ROOT / "docs" and f"(docs/{page.name})" not in readme
    ] == []
    assert len(readme.splitlines()) <= 150


def test_every_section_of_a_design_that_is_cited_is_told_of() -> None:
    """In code `seed 004 §7.4, §8.1`; a section that is not told by itself is told in one that holds it."""
    parts = re.split(r"^## Seed (\d{3})$", text_of(ROOT / "docs/origins.md"), flags=re.MULTILINE)
    told = {seed: set(TOLD.findall(text)) for seed, text in zip(parts[1::2], parts[2::2], strict=True)}
    missing = set()
    for folder in PACKAGES.split("|"):
        for file in (ROOT / folder).rglob("*.py"):
            found = re.findall(
                r"[Ss]eed (\d{3}) (§[\d.]*\d(?:(?:, | and | \[\w+\], )§[\d.]*\d)*)", file.read_text("utf-8")
            )
            missing |= {
                (seed, one)
                for seed, several in found
                for one in TOLD.findall(several)
                if one not in told.get(seed, ())
            }
    assert sorted(missing) == []
