"""Politeness to the hosts that pages are fetched from: what their robots.txt says, and whose turn it is."""
