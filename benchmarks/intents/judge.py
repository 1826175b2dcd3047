"""A judge of known accuracy: an OpenAI-compatible server on loopback that is asked what a message wants.

It knows the right answers, and gives a wrong one for a share of the messages that their digests choose, so a
run can be repeated. What it is not offered it can't choose. For `eval_intents`.
"""

import hashlib
import json
import re
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

_MESSAGE = re.compile(r'<data name="message" mark="(\w+)">\n(.*)\n</data mark="\1">', re.DOTALL)


def verdict(text: str, truth: str, offered: Sequence[str], accuracy: float) -> str:
    """What the judge says of a message: right for a share `accuracy` of all messages, if it may."""
    digest = hashlib.sha256(text.encode()).digest()
    wrong = [intent for intent in offered if intent != truth]
    if truth in offered and (int.from_bytes(digest[:4]) / 2**32 < accuracy or not wrong):
        return truth
    return wrong[digest[4] % len(wrong)]


class Judge:
    """The server, in threads of its own, while the block lasts. `asked` counts its answers."""

    def __init__(self, truths: Mapping[str, str], accuracy: float) -> None:
        self.asked = 0
        outer, lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                offered = body["response_format"]["json_schema"]["schema"]["properties"]["intent"]["enum"]
                found = _MESSAGE.search(body["messages"][-1]["content"])
                if found is None or found[2] not in truths:
                    self.send_error(500, "the message is none that the judge knows")
                    return
                chosen = verdict(found[2], truths[found[2]], offered, accuracy)
                with lock:
                    outer.asked += 1
                content = json.dumps(_completion(body["model"], json.dumps({"intent": chosen}))).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def base_url(self) -> str:
        """What goes into `api_base`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"


def _completion(model: str, content: str) -> dict[str, Any]:
    return {
        "id": "judge",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
