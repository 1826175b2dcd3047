"""Names: their words, their form to compare, and what makes two of them one or two."""
