"""Faults of edges: EDG-008 to EDG-017."""
