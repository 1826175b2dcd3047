"""Research's agents: they name a tree's nodes, write about them, and judge what was written."""
