"""Tools: what a person, a program or an agent may do, each with its permission. The list is in `systems`."""
