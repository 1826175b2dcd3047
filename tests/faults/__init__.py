"""The fault campaign: real processes under drawn faults, and what must hold after each run of them.

`python -m tests.faults --help` says how it is run. The draws follow from the seed; the timing does not.
"""
