"""What makes workflows durable: directory, runner, run, group commit, gate, pool, site."""
