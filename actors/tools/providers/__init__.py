"""Outside data: one module for each provider of search or of market data, and what they share."""
