"""Configuration of drafting: the model that writes, its prompts, and how much an article rests on.

Part of `models.config`.
"""

from typing import Annotated

from pydantic import Field

from models.config.fields import Count, ResolvedPath, Section
from models.config.llm import WriterSettings
from models.content.search import MOST_FOUND


class DraftingConfig(Section):
    """Drafting (seed 000 §1.4). `llm` writes the articles.

    An article rests on `max_resources` resources at most, of each of which `source_tokens` are read.
    """

    prompts_dir: ResolvedPath  # its prompt
    llm: WriterSettings
    max_resources: Annotated[int, Field(ge=1, le=MOST_FOUND)]
    source_tokens: Count
