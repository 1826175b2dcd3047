"""PromQL, as far as our rules and dashboards use it: read, held to the metrics there are, and evaluated."""
