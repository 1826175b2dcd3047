"""Numbers, amounts, days and units as texts and tables write them, and the form they are compared in."""
