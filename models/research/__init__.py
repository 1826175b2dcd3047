"""Records of research: what was found to read, and what is made of it. Seed 002."""
