"""Benchmarks against peers from PyPI, all in one run: `make bench`."""
