"""What makes workflows durable, in SQL: workflows, claims, documents, runners, batches."""
