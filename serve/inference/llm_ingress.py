"""The ingress of `/llm`: Ray's own, on the node's own address. Named by its path in `serve.inference.llm`."""

from typing import Any

from ray.llm._internal.serve.core.ingress.ingress import OpenAiIngress

from serve.inference.own_address import listen_on_node_only


class Ingress(OpenAiIngress):
    """Passes requests on to the models' replicas."""

    def __init__(self, *args: Any, **more: Any) -> None:
        listen_on_node_only()
        super().__init__(*args, **more)
