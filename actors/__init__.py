"""Agents, graphs, tools, and the runtime that makes them durable."""
