"""An MCP server that is a program and says too much: `python bad_program.py HOW`, line by line, by hand.

`many`: its list has 100,000 tools. `pages`: its list has no end. `huge`: a call is answered with 10 MB.
`unasked`: a call is answered, again and again, with what nobody asked. It speaks 2025-11-25.
"""

import itertools
import json
import sys
from typing import Any


def main() -> None:
    """Answer until the input ends."""
    how = sys.argv[1]
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        match asked["method"]:
            case "initialize":
                its = {"name": "bad", "version": "1"}
                _say(asked, protocolVersion="2025-11-25", capabilities={"tools": {}}, serverInfo=its)
            case "tools/list":
                _list(asked, how)
            case "tools/call" if how == "unasked":
                for number in itertools.count(1):
                    _say({"id": f"unasked {number}"}, content=[])
            case "tools/call":
                text = "x" * (10_000_000 if how == "huge" else 10)
                _say(asked, content=[{"type": "text", "text": text}])
            case _:
                _write(id=asked["id"], error={"code": -32601, "message": "no such method"})


def _list(asked: Any, how: str) -> None:
    names = ["look", "send"]
    if how == "many":
        names += [f"tool{number}" for number in range(100_000)]
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    page = int((asked.get("params") or {}).get("cursor") or 0)
    _say(asked, tools=tools, **({"nextCursor": str(page + 1)} if how == "pages" else {}))


def _say(asked: Any, **result: Any) -> None:
    _write(id=asked["id"], result=result)


def _write(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
