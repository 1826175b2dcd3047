"""What this release of Signoff is called: in the package, the HTTP and MCP doors, and the recorded journals.

Said here alone; `pyproject.toml` reads it without importing anything, so it is a literal.
"""

RELEASE = "0.2.0"
