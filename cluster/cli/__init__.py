"""The `signoff` command, and the client of the HTTP API that most of its commands are."""
