"""What one message may still cost: rounds of tools, tokens of all its model calls, and seconds.

A turn makes one when it begins, and the tool loop asks it before every step. A turn that reaches it ends with
what it has (seed 000 §4.1, `max_iterations`).
"""

import time
from collections.abc import Callable
from typing import Literal

from models.chat.messages import Usage
from models.config.chat import BudgetConfig
from models.llm import ModelCall

# What a turn ran into; `window` is the model's context window.
Limit = Literal["iterations", "tokens", "seconds", "window"]

# The share of the seconds that looking things up may take: the rest is for the answer.
_WORKING_SHARE = 0.7


class Budget:
    """One turn's budget. `clock` gives seconds; only differences between its readings count."""

    def __init__(self, budget: BudgetConfig, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.rounds_left = budget.iterations
        self.tokens_left = budget.tokens
        self._seconds = budget.seconds
        self._clock = clock
        self._begun = clock()

    @property
    def seconds_left(self) -> float:
        """Until the turn must have ended."""
        return max(0.0, self._begun + self._seconds - self._clock())

    @property
    def working_seconds_left(self) -> float:
        """Until no more may be looked up, because the answer is due."""
        return max(0.0, self._begun + self._seconds * _WORKING_SHARE - self._clock())

    def begin_round(self) -> None:
        """Count a round of tools."""
        self.rounds_left -= 1

    def count(self, call: ModelCall, *, prompt: int, reply: int) -> Usage:
        """Count a model call, and say what it was counted as.

        Args:
            prompt: about how many tokens its prompt had, `reply` its reply: these are counted where the
                endpoint did not tell.
        """
        told = call.prompt_tokens or call.completion_tokens
        usage = Usage(
            prompt_tokens=call.prompt_tokens if told else prompt,
            completion_tokens=call.completion_tokens if told else reply,
        )
        self.tokens_left = max(0, self.tokens_left - usage.prompt_tokens - usage.completion_tokens)
        return usage
