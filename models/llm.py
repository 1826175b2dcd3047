"""What a model call leaves behind: who asked which model, how long it took, what it cost."""

from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from models.record import Record

T = TypeVar("T")


class ModelCall(Record):
    """One request to a model endpoint, whatever came of its reply. Times are in seconds.

    `begun_at` counts from 1970; it is absent in records of a release that did not know it.
    """

    agent: str
    model: str
    prompt_sha256: str
    prompt_tokens: int
    completion_tokens: int
    latency_seconds: float
    error: str | None = None
    begun_at: float | None = None


class Answer(BaseModel, Generic[T]):
    """An agent's answer and the model calls it took."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: T
    calls: tuple[ModelCall, ...] = ()
