"""What systems stand on: the runtime, tools, calls of models, search, the web, and work on text."""
