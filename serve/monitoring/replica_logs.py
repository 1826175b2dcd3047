"""How our replicas of Ray Serve log: into the file that Serve keeps for each, in our form, Serve's lines too.

Serve sends there whatever a replica writes to standard error, each line in one of its own: ours would be
wrapped in those.
"""

import logging

from actors.platform import logs


def begin_in_replica(style: logs.LogStyle, *, process: str) -> None:
    """Log into `logs/serve/replica_*.log` of Ray's session. See `logs.begin`."""
    handlers = list(logging.getLogger("ray.serve").handlers)
    logs.begin(style, process=process, handlers=handlers)
    for handler in handlers:
        # First: Serve's own filters take that mark off.
        handler.filters.insert(0, _not_of_a_request)
        # Serve's handler hands records on to the one that writes the file, which makes the lines.
        target = getattr(handler, "target", None)
        if isinstance(target, logging.Handler):
            target.setFormatter(handler.formatter)


def _not_of_a_request(record: logging.LogRecord) -> bool:
    """Serve has a line for each request, too; `serve.monitoring.logged` says more, and leaves some out."""
    return not getattr(record, "serve_access_log", False)
