"""A configuration with the market data providers that a test names, and no others."""

from pathlib import Path
from typing import Any

from actors.platform.systems import load
from models.config import Config
from models.config.outside import MarketDataProviders

ROOT = Path(__file__).resolve().parents[4]


def with_providers(**providers: Any) -> Config:
    """The configuration in configs/local.yaml with these providers; loopback may be reached."""
    config = load(ROOT / "configs" / "local.yaml", root=ROOT)
    research = config.outside.model_copy(update={"market_data": MarketDataProviders(**providers)})
    outgoing = config.outgoing.model_copy(update={"allow_internal": ("127.0.0.1/32",)})
    return config.model_copy(update={"outside": research, "outgoing": outgoing})
