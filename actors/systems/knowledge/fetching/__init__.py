"""What asks hosts for pages: turns, robots.txt, engines without a browser."""
