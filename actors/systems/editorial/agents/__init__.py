"""The agents of the editorial desk: each a plain class with one to three verbs."""
