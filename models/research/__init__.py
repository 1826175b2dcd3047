"""Records of research: what a person asks, and the tree of what was found."""
