"""Record linkage: what agreements weigh, and records of tables linked by that without examples."""
