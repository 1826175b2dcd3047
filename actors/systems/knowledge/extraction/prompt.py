"""The prompt of extraction, and the digest of all that shapes the points that come of it."""

import hashlib

from actors.platform.llm.prompts import read_two_part_prompt
from models.config import ExtractionConfig
from models.runtime.approvals import content_digest

PROMPT = "extract.md"
# What shapes points beside the settings: to be counted up when the code that finds spans changes.
_FORMAT = 2


def read_prompt(settings: ExtractionConfig) -> str:
    """The prompt's source; PromptInvalid names what is missing."""
    return read_two_part_prompt(settings.prompts_dir, PROMPT)


def extracted_with(settings: ExtractionConfig) -> str:
    """What shapes points, in 16 hex digits: of two extractions with the same, one is enough."""
    return content_digest(
        {
            "format": _FORMAT,
            "model": settings.llm.model,
            "prompt": hashlib.sha256(read_prompt(settings).encode()).hexdigest(),
            "chunk_tokens": settings.chunk_tokens,
            "threshold": settings.threshold,
        }
    )[:16]
