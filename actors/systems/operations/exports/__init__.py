"""Approved results as files: JSON, Markdown, CSV and PDF. Pure: the same results make the same bytes."""
