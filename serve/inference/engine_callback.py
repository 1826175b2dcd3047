"""Tells `ray.serve.llm` not to look for model files to download before an engine starts.

Signoff's models are folders that every node sees. The look-up would start a process on each node that
imports vLLM (about 13 s and 0.8 GB) only to find that out. Named by its path in `serve.inference.llm`.

It is also where code of ours first runs in that replica, so its port is kept to the node's address here.
"""

from ray.llm._internal.common.callbacks.base import CallbackBase

from serve.inference.own_address import listen_on_node_only


class NoDownload(CallbackBase):
    """An engine callback that switches the download step off."""

    async def on_before_node_init(self) -> None:
        """Called by the replica before the step."""
        listen_on_node_only()
        self.ctx.run_init_node = False
