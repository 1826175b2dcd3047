"""Operations as records: plans, what agents found, what was compiled of it, and revisions. Seed 003."""
