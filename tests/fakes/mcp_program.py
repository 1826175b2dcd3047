"""An MCP server that is a program: `python mcp_program.py FOLDER [bad]`, for tests of pipes.

It speaks 2025-11-25, or what the SDK makes of it, and writes its process id and environment to the folder.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel


class _Sure(BaseModel):
    sure: bool


def main() -> None:
    """Serve until the input ends."""
    folder, how = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    (folder / f"{os.getpid()}.json").write_text(json.dumps(dict(os.environ)))
    if how == "broken":
        sys.stderr.write("the disk is full\n")
        sys.exit(3)
    wire = os.dup(1)  # the SDK keeps what is printed out of its messages; other programs' libraries do not
    server = MCPServer("program")

    @server.tool()
    async def look(what: str, context: Context[Any]) -> str:
        """Look for something."""
        match what:
            case "end":
                os._exit(1)
            case "huge":
                return "x" * 3_000_000
            case "noise":
                os.write(wire, b"this is no message\n")
            case "slow":
                await anyio.sleep_forever()
            case "flood":
                while True:
                    os.write(wire, b'{"jsonrpc": "2.0", "method": "notifications/message"}\n' * 100)
            case "late question":
                (folder / "begun").touch()
                while not (folder / "go").exists():  # noqa: ASYNC110  # whoever tests is elsewhere
                    await anyio.sleep(0.01)
                answer = await context.elicit("Sure?", _Sure)
                (folder / "told").write_text(answer.action)
                return answer.action
            case "question":
                answer = await context.elicit("Sure?", _Sure)
                return answer.action
        return f"found {what} as {os.getpid()}"

    @server.tool()
    def send(to: str) -> str:
        """Send something, and be gone."""
        (folder / "sent").open("a").write(f"{to}\n")
        os._exit(1)

    server.run("stdio")


if __name__ == "__main__":
    main()
