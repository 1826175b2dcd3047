"""The agents of an operation: who plans, who reads a system, who compares."""
