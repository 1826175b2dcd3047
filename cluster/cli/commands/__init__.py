"""The commands of `signoff`, as `cluster.cli.signoff` gathers them.

Imports are made in the commands, so that `signoff --help` is quick and what Ray reads from the environment
is set before Ray is imported.
"""
