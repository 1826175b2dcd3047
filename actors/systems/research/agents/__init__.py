"""Research's agents: they find pages, name a tree's nodes, write about them, and judge what was written."""
