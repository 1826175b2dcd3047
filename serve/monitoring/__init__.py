"""How the site is: whether it is ready, what Ray says of its parts, and its metrics."""
