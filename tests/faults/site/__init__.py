"""The site that faults strike: its processes, its runners and agents, and what stands between them."""
