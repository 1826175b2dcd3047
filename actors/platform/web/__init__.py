"""The web outside the site: fetching through the URL guard, robots, and providers of search."""
