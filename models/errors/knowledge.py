"""Errors of knowledge, research and operations, and of the evidence for articles."""

from typing import Any

from models.errors.base import SignoffError


class ProjectNotFound(SignoffError):
    """No project has this id, or none that is the caller's."""

    http_status = 404


class ResearchNotFound(SignoffError):
    """No research has this number, or none that is the caller's."""

    http_status = 404


class ResearchLimited(SignoffError):
    """A person has as many researches under way as the topic's plan allows (`research.limits`)."""

    http_status = 429


class OperationNotFound(SignoffError):
    """There is no such operation, or the caller may not know of it."""

    http_status = 404


class PdfNotMade(SignoffError):
    """A PDF could not be made of approved results, or not in time; the other formats can be had."""


class TreeNotFound(SignoffError):
    """A project holds no tree of this id."""

    http_status = 404


class SourceNotFound(SignoffError):
    """A project holds no source of this id."""

    http_status = 404


class SourceBusy(SignoffError):
    """A batch is fetching this source; what it brings would be lost, or this would."""

    http_status = 409


class EntityNotFound(SignoffError):
    """A project holds no entity of this id."""

    http_status = 404


class MergeNotFound(SignoffError):
    """A project holds no merge of entities of this id."""

    http_status = 404


class KnowledgeBaseInvalid(SignoffError):
    """The site's knowledge base can't be had: its disk, files or settings. No topic's fault, so it waits."""

    http_status = 503
    outage = True

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message, **{"waits_for": f"knowledge base: {message}", **facts})


class EvidenceUnavailable(SignoffError):
    """The evidence provider is away, unwell, or not set up right. `waits_for` names it."""

    http_status = 503
    outage = True


class EvidenceRefused(SignoffError):
    """The evidence provider refused this query, or had no answer to it."""

    http_status = 502


class MemoryUnavailable(SignoffError):
    """The disk of the institutional memory can't be used. `waits_for` names it."""

    http_status = 503
    outage = True


class MemoryRecordInvalid(SignoffError):
    """A file of institutional memory is not a whole, valid record (seed 004 §7.3)."""
