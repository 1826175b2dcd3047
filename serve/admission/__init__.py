"""Who comes in, and with how much: before any route sees a request."""
