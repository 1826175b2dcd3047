"""The editorial desk: a writer, a reviewer and five specialists, and the graph that is their chief editor."""
