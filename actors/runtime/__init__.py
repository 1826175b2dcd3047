"""What makes workflows durable: directory, runner, run, journal, kind, gate, pool, site."""
