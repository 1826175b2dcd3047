"""Operations in Postgres: what was asked for, what each iteration came to, and what happened."""
