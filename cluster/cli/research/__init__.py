"""`signoff research`: what it asks of a site, how that looks on a terminal, how a person decides there."""
