"""Drafting: three branches look for sources, and an article is drafted from what they found."""
