"""Searching the web and the news: one module for each provider."""
