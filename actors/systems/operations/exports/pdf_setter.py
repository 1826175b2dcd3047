"""Sets one PDF in a process of its own: JSON on stdin, the PDF on stdout. Started by `as_pdf`, by its path.

Typst keeps what it has computed for the next documents of its process, hundreds of megabytes of a long one:
so the process ends with the document. It imports nothing of ours, has limits, and may write no file.
"""

import json
import resource
import sys

import typst

_MEMORY = 3 * 1024**3
_SECONDS = 30


def set_pdf(given: dict[str, str]) -> bytes:
    """The PDF of `template` with `report` in its `sys.inputs`; `timestamp`: its date, in Unix seconds."""
    pdf: bytes = typst.compile(
        given["template"].encode(),
        sys_inputs={"report": given["report"]},
        format="pdf",
        ignore_system_fonts=True,
        timestamp=int(given["timestamp"]),
    )
    return pdf


def main() -> None:
    """Exits with 0 and the PDF, or with 1 and what Typst has to say on stderr."""
    for what, most in (
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_CPU, _SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))
    try:
        made = set_pdf(json.loads(sys.stdin.buffer.read()))
    except typst.TypstError as error:
        sys.exit(error.diagnostic or error.message)
    sys.stdout.buffer.write(made)


if __name__ == "__main__":
    main()
