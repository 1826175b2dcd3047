"""Knowledge: pages are fetched and read, what is known from them is kept, and found again. Seed 002."""
