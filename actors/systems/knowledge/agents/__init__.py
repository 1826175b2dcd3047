"""The agents of knowledge: hosts' turns, scrapers and browsers."""
