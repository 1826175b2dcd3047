"""Errors of the site itself: its configuration, its cluster, its database, its jobs."""

from models.errors.base import SignoffError


class ConfigInvalid(SignoffError):
    """The configuration file is wrong: the message names file, key path and reason."""


class TopicInvalid(SignoffError):
    """A topic file can't be edited: the message names the file, the key and the reason."""

    http_status = 422


class PathNotVisible(SignoffError):
    """A path a job was given can't be seen from where the job runs."""


class PromptInvalid(SignoffError):
    """A prompt file is missing, or uses a name that nobody gives it."""


class BatchStopped(SignoffError):
    """A batch was told to stop before its end; submitted again, it goes on."""


class AgentDied(SignoffError):
    """An agent's process ended or can't be reached; asking again starts a new one. `waits_for` names it."""

    http_status = 503
    outage = True


class DatabaseUnavailable(SignoffError):
    """Postgres can't be reached, or its schema is not this release's."""

    http_status = 503
    outage = True


class ClusterProblem(SignoffError):
    """A part of the cluster can't come up: the message says what is wrong and what to do."""


class StreamTooSlow(SignoffError):
    """Whoever follows a stream takes it more slowly than it comes; they may go on where they stood."""

    http_status = 503


class RequestRefused(SignoffError):
    """An HTTP endpoint refused a command's request: the message is the problem's `detail`."""


class PlacesTaken(SignoffError):
    """This node does as many of these at once as it may; `retry_after_seconds` says when to ask again."""

    http_status = 503
