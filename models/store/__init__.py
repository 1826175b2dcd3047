"""The only place that speaks SQL: one module per noun. The schema is in `schema/`."""
