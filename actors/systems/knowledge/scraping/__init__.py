"""Which engine a page takes, and what its answer comes to: above fetching, browsing and reading."""
