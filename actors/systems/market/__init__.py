"""Market data: the providers, and the series that people ask them for."""
