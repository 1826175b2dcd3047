"""Records of what is written, and of what it rests on."""
