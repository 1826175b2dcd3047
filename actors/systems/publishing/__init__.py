"""Publishing an article: a gate, and what its decision leads to."""
