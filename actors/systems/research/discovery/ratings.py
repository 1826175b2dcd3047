"""What the site thinks of a domain: trusted, preferred, never, or nothing. Its own preferences alone.

Called by discovery for each address. Of several domains that a host lies under, the nearest counts.
"""

from models.config import DomainsConfig
from models.domains import standing_over
from models.research.candidates import Rating


class Ratings:
    """The ratings of `research.domains`."""

    def __init__(self, domains: DomainsConfig) -> None:
        said: tuple[tuple[Rating, tuple[str, ...]], ...] = (
            ("trust", domains.trust),
            ("prefer", domains.prefer),
            ("never", domains.never),
        )
        self._ratings = {domain: rating for rating, some in said for domain in some}

    def of_host(self, host: str) -> Rating:
        """The rating of a host, in whatever case, with or without the dot of the root."""
        nearest = standing_over(host, self._ratings)
        return self._ratings[nearest] if nearest is not None else "neutral"
