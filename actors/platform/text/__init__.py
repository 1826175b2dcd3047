"""Work on text that several systems share. Pure."""
