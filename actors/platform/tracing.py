"""Spans of OpenTelemetry: a request, the tool call or workflow it leads to, its steps, their model calls.

Off unless `monitoring.otlp_endpoint` is set: nothing of OpenTelemetry is imported then, and a span costs
nothing. Who owns a process begins (replicas of the API, runners). Agents make none: the record of a model
call says when it began, and whoever gets it makes its span, so agents stay light.

Spans are given to a thread that sends them. Where the collector is away they are dropped: nobody waits for
it. A trace holds names, ids and figures, never what people or models say.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from models import trace_context
from models.config import MonitoringConfig
from models.llm import ModelCall
from models.release import RELEASE

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span as OtelSpan
    from opentelemetry.trace import Tracer

Kind = Literal["internal", "server", "client"]
Facts = Mapping[str, str | int | float | bool]
_SEND_SECONDS = 5.0


class TracedSpan:
    """A span under way; one of nothing where nothing is traced."""

    def __init__(self, of: "OtelSpan | None") -> None:
        self._of = of

    def tell(self, facts: Facts, *, name: str | None = None) -> None:
        """What was not known as it began: facts, and what it is called."""
        if self._of is not None:
            self._of.set_attributes(dict(facts))
            if name is not None:
                self._of.update_name(name)

    def failed(self, kind: str) -> None:
        """It went wrong; `kind` is the error's name."""
        if self._of is not None:
            from opentelemetry.trace import Status, StatusCode

            self._of.set_attribute("error.type", kind)
            self._of.set_status(Status(StatusCode.ERROR))


# Of this process, while it traces.
_PROVIDERS: list["TracerProvider"] = []


def begin(settings: MonitoringConfig, *, process: str) -> None:
    """Trace what this process does, where the configuration says so. Once: a second call changes nothing.

    Args:
        process: what it is: `api`, or `runner`.
    """
    if settings.otlp_endpoint is None or _PROVIDERS:
        return
    import requests
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

    session = requests.Session()
    session.trust_env = False
    token = settings.otlp_token
    headers = {} if token is None else {"authorization": f"Bearer {token.get_secret_value()}"}
    # By the trace's id: all processes keep the same traces, whatever flag whoever asked has sent.
    provider = TracerProvider(
        sampler=TraceIdRatioBased(settings.traced_share),
        resource=Resource(
            {"service.name": f"signoff-{process}", "service.namespace": "signoff", "service.version": RELEASE}
        ),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(
        BatchSpanProcessor(
            OTLPSpanExporter(
                endpoint=settings.otlp_endpoint, headers=headers, timeout=_SEND_SECONDS, session=session
            )
        )
    )
    _PROVIDERS.append(provider)


def end() -> None:
    """Send what is left, and trace no more. It blocks for seconds where the collector is away."""
    while _PROVIDERS:
        _PROVIDERS.pop().shutdown()


@contextmanager
def span(
    name: str, facts: Facts | None = None, *, kind: Kind = "internal", continues: str | None = None
) -> Iterator[TracedSpan]:
    """What is done inside is one span. An error that leaves it is told by its kind, and goes on.

    Args:
        continues: the `traceparent` of what led to it; absent: of what is done now.
    """
    tracer = _tracer()
    if tracer is None:
        yield TracedSpan(None)
        return
    of = _start(tracer, name, facts or {}, kind=kind, parent=continues or trace_context.current())
    made = TracedSpan(of)
    try:
        with trace_context.within(_traceparent(of)):
            yield made
    except BaseException as error:
        made.failed(type(error).__name__)
        raise
    finally:
        of.end()


def tell_calls(calls: Sequence[ModelCall]) -> None:
    """Model calls that what is done now has taken, each a span of its own."""
    tracer = _tracer()
    if tracer is None:
        return
    for call in calls:
        begun = call.begun_at if call.begun_at is not None else time.time() - call.latency_seconds
        facts: Facts = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": call.model,
            "gen_ai.usage.input_tokens": call.prompt_tokens,
            "gen_ai.usage.output_tokens": call.completion_tokens,
            "signoff.agent": call.agent,
        }
        of = _start(
            tracer, f"chat {call.model}", facts, kind="client", parent=trace_context.current(), begun=begun
        )
        if call.error is not None:
            TracedSpan(of).failed("model_call_failed")
        of.end(end_time=int((begun + call.latency_seconds) * 1e9))


def _tracer() -> "Tracer | None":
    return _PROVIDERS[0].get_tracer("signoff") if _PROVIDERS else None


def _start(
    tracer: "Tracer", name: str, facts: Facts, *, kind: Kind, parent: str | None, begun: float | None = None
) -> "OtelSpan":
    from opentelemetry.context import Context
    from opentelemetry.trace import SpanKind

    return tracer.start_span(
        name,
        context=_context(parent) if parent else Context(),
        kind=SpanKind[kind.upper()],
        attributes=dict(facts),
        start_time=None if begun is None else int(begun * 1e9),
    )


def _context(traceparent: str) -> "Context":
    from opentelemetry.context import Context
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

    _, trace, parent, flags = traceparent.split("-")
    known = SpanContext(
        int(trace, 16), int(parent, 16), is_remote=True, trace_flags=TraceFlags(int(flags, 16))
    )
    return set_span_in_context(NonRecordingSpan(known), Context())


def _traceparent(of: "OtelSpan") -> str:
    known = of.get_span_context()
    return f"00-{known.trace_id:032x}-{known.span_id:016x}-{int(known.trace_flags):02x}"
