"""The tools of knowledge: projects, scraping, and what is known. Seed 002 §6.2."""
