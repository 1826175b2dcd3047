"""Errors of models and of what they reply."""

from typing import TYPE_CHECKING

from models.errors.base import SignoffError

if TYPE_CHECKING:  # commands show their help without reading records
    from models.llm import ModelCall


class ModelUnavailable(SignoffError):
    """A model can't be had: its endpoint is away, unwell, or not set up right. `waits_for` names it."""

    http_status = 503
    outage = True


class ModelRefused(SignoffError):
    """A model's endpoint refused this request, and answers others."""

    http_status = 422


class ModelTimedOut(SignoffError):
    """A model took longer over this request than it may, while it answered others."""

    http_status = 504


class ModelNotFound(SignoffError):
    """An OpenAI client asked a model that there is not, or none that the caller may use."""

    http_status = 404


class ModelReplyInvalid(SignoffError):
    """A model's reply still broke its schema or rules after the configured retries. `calls` are its tries."""

    calls: "tuple[ModelCall, ...]" = ()


class NothingToQuote(SignoffError):
    """No source holds a sentence that can be quoted by itself, and none a figure."""


class PromptTooLong(SignoffError):
    """A prompt is over the agent's share of its context window; nothing was sent."""

    http_status = 422


class AnswerFailed(SignoffError):
    """The assistant failed for a reason of its own; the log of the site has it."""


class ReviewUnreadable(SignoffError):
    """A review that is not empty holds no bullet (seed 004 §6.1.1)."""
