"""What the unit tests of research share: the configuration, and the chat's prompts."""

from functools import cache
from pathlib import Path

from actors.platform.systems import load
from models.config import Config

ROOT = Path(__file__).resolve().parents[3]


@cache
def site() -> Config:
    """configs/local.yaml."""
    return load(ROOT / "configs/local.yaml", root=ROOT)


def prompts() -> dict[str, str]:
    """The sources of the chat's prompts by name, as agents get them."""
    return {file.stem: file.read_text() for file in (ROOT / "configs/prompts/chat").glob("*.md")}
