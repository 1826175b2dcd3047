"""Data types, not served models: typed records, configuration, permissions and SQL.

The lowest floor. It knows no Ray, no LangGraph and no HTTP; everything above imports from it.
"""
