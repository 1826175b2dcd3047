"""Chat: the agents that people talk to, and the graph that researches an article."""
