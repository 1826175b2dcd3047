"""Extraction: points of knowledge from a source, each with the exact span that it rests on."""
