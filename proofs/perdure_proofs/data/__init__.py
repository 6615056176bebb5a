"""Theorems about data: what an attempt is given."""
