"""Agents: they have a model and are triggered by bus events."""
