"""A collector of OpenTelemetry over real HTTP on loopback: it takes OTLP in protobuf, and keeps the spans."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


class CollectedSpan(NamedTuple):
    """A span as it came. Ids are hex; `parent` is empty where it has none; times are seconds since 1970."""

    service: str
    name: str
    trace: str
    id: str
    parent: str
    kind: int
    failed: bool
    facts: dict[str, str | int | float | bool]
    begun: float
    ended: float


class Collector:
    """The server; `spans` are those that came, in order. Use it as a context manager."""

    def __init__(self) -> None:
        self.spans: list[CollectedSpan] = []
        self.tokens: set[str | None] = set()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                assert self.headers["content-type"] == "application/x-protobuf"
                assert self.path == "/v1/traces"
                collector.tokens.add(self.headers.get("authorization"))
                collector.take(ExportTraceServiceRequest.FromString(body))
                answer = ExportTraceServiceResponse().SerializeToString()
                self.send_response(200)
                self.send_header("content-type", "application/x-protobuf")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        """Where spans are sent to."""
        return f"http://127.0.0.1:{self._server.server_port}/v1/traces"

    def take(self, request: ExportTraceServiceRequest) -> None:
        """Remember what came."""
        for resource in request.resource_spans:
            [service] = [
                a.value.string_value for a in resource.resource.attributes if a.key == "service.name"
            ]
            for scope in resource.scope_spans:
                for span in scope.spans:
                    values = {a.key: a.value for a in span.attributes}
                    self.spans.append(
                        CollectedSpan(
                            service=service,
                            name=span.name,
                            trace=span.trace_id.hex(),
                            id=span.span_id.hex(),
                            parent=span.parent_span_id.hex(),
                            kind=span.kind,
                            failed=span.status.code == 2,
                            facts={
                                key: getattr(value, value.WhichOneof("value"))
                                for key, value in values.items()
                            },
                            begun=span.start_time_unix_nano / 1e9,
                            ended=span.end_time_unix_nano / 1e9,
                        )
                    )

    def __enter__(self) -> "Collector":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
