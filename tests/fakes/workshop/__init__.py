"""A system of one folder: a toy is planned, a person approves or changes the plan, and it is built once."""
