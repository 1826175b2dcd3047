"""Configuration of what the site tells of itself, beside its metrics. Part of `models.config`."""

from typing import Annotated, Literal

from pydantic import Field

from models.config.fields import Secret, Section, Url


class MonitoringConfig(Section):
    """Logs; and traces, from a request to its model calls, which are off unless there is an `otlp_endpoint`.

    Nothing of what people or models say is in a trace: names, ids, times, counts, and the kinds of errors. It
    goes to the endpoint directly, through no proxy.
    """

    logs: Literal["auto", "json", "text"] = "auto"  # auto: text on a terminal, else JSON
    otlp_endpoint: Url | None = None  # a collector's URL of OTLP over HTTP, whole: http://HOST:4318/v1/traces
    otlp_token: Secret | None = None  # sent to it as a bearer token
    traced_share: Annotated[float, Field(ge=0, le=1)]  # of all traces, by their ids
