"""Records of tables, linked without examples: what is compared, which pairs, and what they weigh."""
