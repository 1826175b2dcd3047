"""Events as they happen: the feed that followers share, and server-sent events."""
