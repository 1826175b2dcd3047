"""What every server that we start is given: bounded heads, and WebSockets' frames, bounded and as they come.

A message is inflated, and held whole, before anybody is asked whether it is too large, so compression is off.
Serve 2.60's proxy has no setting for any of it: `narrow_proxy` is its callback (the environment of Ray's
processes names it, `RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH`), which it calls before it opens its port.
"""

import importlib
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

PROXY_CALLBACK = "serve.admission.sockets.narrow_proxy"
MESSAGE_BYTES: Final = 64 * 1024


def server_options() -> dict[str, Any]:
    """What uvicorn is given."""
    from serve.admission.frames import BoundedFrames
    from serve.admission.heads import BoundedHeads

    return {"http": BoundedHeads, "ws": BoundedFrames, "ws_max_size": MESSAGE_BYTES}


def narrow_proxy() -> list[Any]:
    """For the proxy of this process, from now on; no further middleware. Again is harmless."""
    import uvicorn

    # Private to Ray, and without types.
    http: Any = importlib.import_module("ray.serve._private.http_util")
    config = partial(uvicorn.Config, **server_options())
    http.uvicorn = SimpleNamespace(Server=uvicorn.Server, Config=config)
    return []
