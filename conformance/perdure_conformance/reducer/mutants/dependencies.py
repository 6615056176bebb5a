"""Faults of dependencies: DEP-001 to DEP-011."""
