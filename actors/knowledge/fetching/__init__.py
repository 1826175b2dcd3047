"""What asks hosts for pages: their one form of address, turns, robots.txt, engines without a browser."""
