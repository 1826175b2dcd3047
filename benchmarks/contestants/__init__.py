"""What is measured against each other: Signoff's kinds and runners, and the named peers."""
