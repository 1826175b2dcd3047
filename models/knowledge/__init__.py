"""Records of knowledge: projects, sources, and what is known from them."""
