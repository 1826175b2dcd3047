"""Who is calling: tokens, the keys to check them with, and the list of grants."""
