"""A page as it stood in the browser once its scripts had done their work."""

from models.record import Record


class Rendered(Record):
    """What a browser brings of a page.

    `status`, `content_type` and `retry_after` are the server's; `html` is what the scripts made of the page:
    UTF-8, whatever its own `<meta charset>` says, with open shadow roots and frames of the same site in their
    places.
    `redirects` are the addresses before `final_url`, by servers' redirects and by scripts'. `refused` counts
    requests of the page that the guard refused, and `bytes` what came and went for all of them.
    """

    status: int
    final_url: str
    html: bytes
    content_type: str | None
    retry_after: str | None
    redirects: tuple[str, ...]
    refused: int
    bytes: int
