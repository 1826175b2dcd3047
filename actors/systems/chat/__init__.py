"""Chat: agents that people talk to, the routing of their messages, and the turns they take."""
