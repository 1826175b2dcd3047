"""Articles, resources and what is done with them, in SQL."""
