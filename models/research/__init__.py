"""Records of research: what is written from the knowledge that its sources gave."""
