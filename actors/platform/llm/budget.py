"""Whether a prompt leaves its model room to answer.

Called by research's agents, which show less until it does.
"""

from actors.platform.llm.client import text_tokens
from models.config import ModelSettings

# For what a refused reply is told, and the marks around messages, in tokens.
_AROUND = 300


def fits_window(system: str, user: str, settings: ModelSettings) -> bool:
    """Whether both messages and an answer of full length are within the model's window, and its threshold."""
    threshold = settings.context_window * settings.context_window_threshold // 100
    allowed = min(threshold, settings.context_window - settings.max_tokens) - _AROUND
    return text_tokens(system) + text_tokens(user) <= allowed
