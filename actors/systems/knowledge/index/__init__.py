"""The index that passages of projects are found by: cut, embedded, built in segments, and searched."""
