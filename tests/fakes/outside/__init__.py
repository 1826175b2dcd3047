"""What lies outside the site: searches, figures, PDFs, targets of webhooks, an issuer of tokens."""
