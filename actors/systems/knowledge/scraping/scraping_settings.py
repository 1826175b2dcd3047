"""What of the configuration scraping goes by: whoever scrapes is begun anew when that changes alone."""

from dataclasses import dataclass

from actors.systems.knowledge.redaction.names_folder import check_names_model
from models.config import Config, OutgoingConfig, RedactionConfig, ScrapingConfig
from models.config.outside import PdfConfig
from models.errors import InputInvalid
from models.knowledge.pages import EngineChoice


@dataclass(frozen=True)
class ScrapingSettings:
    """What of the configuration scraping goes by."""

    scraping: ScrapingConfig
    redaction: RedactionConfig
    outgoing: OutgoingConfig
    pdf: PdfConfig

    @classmethod
    def of(cls, config: Config) -> "ScrapingSettings":
        """Those of a whole configuration.

        Raises:
            ConfigInvalid: `knowledge.redaction.names_model` is no folder of such a model. Whoever scrapes is
                not begun with it: each page would be unreadable.
        """
        if (folder := config.knowledge.redaction.names_model) is not None:
            check_names_model(folder)
        return cls(
            scraping=config.knowledge.scraping,
            redaction=config.knowledge.redaction,
            outgoing=config.outgoing,
            pdf=config.outside.pdf,
        )


def check_engine(engine: EngineChoice, config: Config) -> None:
    """Refuse an engine that this site has not, before pages are marked for it.

    Raises:
        InputInvalid: it is `firecrawl`, and no API is configured.
    """
    if engine == "firecrawl" and config.knowledge.scraping.firecrawl is None:
        raise InputInvalid(
            "engine: firecrawl has no API here: set knowledge.scraping.firecrawl, or use another engine"
        )
