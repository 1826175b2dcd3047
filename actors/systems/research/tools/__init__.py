"""The tools of research: it is begun, followed, decided on, and stopped. Seed 002 §8."""
