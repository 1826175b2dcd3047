"""What of the configuration scraping goes by: whoever scrapes is begun anew when that changes alone."""

from dataclasses import dataclass

from models.config import Config, OutgoingConfig, RedactionConfig, ScrapingConfig
from models.config.outside import PdfConfig


@dataclass(frozen=True)
class ScrapingSettings:
    """What of the configuration scraping goes by."""

    scraping: ScrapingConfig
    redaction: RedactionConfig
    outgoing: OutgoingConfig
    pdf: PdfConfig

    @classmethod
    def of(cls, config: Config) -> "ScrapingSettings":
        """Those of a whole configuration."""
        return cls(
            scraping=config.knowledge.scraping,
            redaction=config.knowledge.redaction,
            outgoing=config.outgoing,
            pdf=config.outside.pdf,
        )
