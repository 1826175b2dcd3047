"""What market data brings: its tools."""

from actors.platform.system import System

SYSTEM = System(
    name="market",
    tools=(
        "actors.systems.market.tools:fetch_economic_data",
        "actors.systems.market.tools:fetch_equity_data",
        "actors.systems.market.tools:fetch_fx_rates",
        "actors.systems.market.tools:fetch_treasury_yields",
        "actors.systems.market.tools:search_series",
    ),
)
