"""Pages that scripts make: Chromium, and the proxy of ours that is its only way out."""
