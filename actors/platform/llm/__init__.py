"""Calls of models: clients, streams, endpoints with their breakers, prompts."""
