"""What makes work durable, as records: workflows and their kinds, approvals, tasks, outages."""
