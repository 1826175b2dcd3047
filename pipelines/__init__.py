"""Batch work on Ray Data: `ray job submit -- python -m pipelines.NAME`, or `signoff submit NAME`."""
