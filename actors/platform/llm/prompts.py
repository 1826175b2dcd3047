"""Prompt files, rendered with strict-undefined Jinja.

Prompts are read where the cluster is driven from and travel to the agents as text, so a node needs
no copy of the files. Every text that people, pages or models wrote goes through the `fence` filter:
it stays data, whatever it says.
"""

import hashlib
from functools import lru_cache
from pathlib import Path

import jinja2

from models.errors import PromptInvalid
from models.text import without_halves

USER_LINE = "---user---"


def fence(text: str, name: str) -> str:
    """Wrap untrusted text so that a reader can tell where it starts and ends.

    The mark is made from the text's own digest, so no text can hold its own closing mark; and equal
    texts have equal fences, so that a served model's prefix cache finds them again.
    """
    text = without_halves(text)
    mark = hashlib.sha256(text.encode()).hexdigest()[:12]
    while mark in text:  # found by brute force, if ever
        mark = hashlib.sha256(f"{mark}{text}".encode()).hexdigest()[:12]
    return f'<data name="{name}" mark="{mark}">\n{text}\n</data mark="{mark}">'


class Prompt:
    """One prompt template. `render` raises PromptInvalid where a name is missing."""

    def __init__(self, *, source: str, name: str) -> None:
        self._name = name
        try:
            self._template = _compiled(source)
        except jinja2.TemplateError as error:
            raise PromptInvalid(f"{name}: not a valid template: {error}") from error

    def render(self, **values: object) -> str:
        """The prompt's text, with `values` filled in."""
        try:
            return self._template.render(**values).strip() + "\n"
        except jinja2.TemplateError as error:
            raise PromptInvalid(f"{self._name}: {error}") from error


@lru_cache(maxsize=512)
def _compiled(source: str) -> jinja2.Template:
    """The template of a source: each agent is given many, and most of them are the same."""
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["fence"] = fence
    return environment.from_string(source)


class TwoPartPrompt:
    """A prompt file's system and user part. PromptInvalid where one of them is missing."""

    def __init__(self, *, source: str, name: str) -> None:
        system, user = split_parts(source, name=name)
        self._system = Prompt(source=system, name=f"{name} (system part)")
        self._user = Prompt(source=user, name=f"{name} (user part)")

    def render(self, **values: object) -> tuple[str, str]:
        """The system and the user message, with `values` filled in."""
        return self._system.render(**values), self._user.render(**values)


def split_parts(source: str, *, name: str) -> tuple[str, str]:
    """The system and the user part of a prompt's source: what stands before and after `---user---`.

    The source is split, never a rendered prompt: no text that is filled in can move the border.
    """
    lines = source.splitlines()
    if lines.count(USER_LINE) != 1:
        raise PromptInvalid(
            f"{name}: one line must hold exactly {USER_LINE}, between the system and the user part; "
            f"{lines.count(USER_LINE)} do"
        )
    border = lines.index(USER_LINE)
    system, user = "\n".join(lines[:border]), "\n".join(lines[border + 1 :])
    for part, text in (("system", system), ("user", user)):
        if not text.strip():
            raise PromptInvalid(f"{name}: the {part} part is empty")
    return system, user


def read_two_part_prompt(root: Path, name: str) -> str:
    """The source of a prompt file that has a system and a user part, both checked."""
    source = read_prompt(root, name)
    TwoPartPrompt(source=source, name=str(root / name))
    return source


def read_prompt(root: Path, name: str) -> str:
    """The source of one prompt file under `root`; PromptInvalid names what is missing or empty."""
    path = root / name
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptInvalid(f"the prompt file {path} can't be read: {error}") from error
    if not source.strip():
        raise PromptInvalid(f"the prompt file {path} is empty")
    Prompt(source=source, name=str(path))
    return source
