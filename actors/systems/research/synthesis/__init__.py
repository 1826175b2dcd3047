"""Synthesis: sentences that cite points of knowledge, each looked at twice before it stands."""
