"""What lies outside the site: fetching through the URL guard, PDFs, providers, and webhooks sent."""
