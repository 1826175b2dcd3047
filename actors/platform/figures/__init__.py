"""Figures: computed from tables by code, said from templates, and found again in texts. Pure."""
