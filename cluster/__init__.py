"""Bring-up, the top floor: Postgres, Ray, the models, the Serve apps and the `signoff` command.

Nothing below imports this package.
"""
