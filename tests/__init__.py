"""Signoff's tests: unit (no Ray, no database), integration (real Postgres, one Ray), e2e (everything)."""
