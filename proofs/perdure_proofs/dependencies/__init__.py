"""Theorems about dependency policies: what waits, what is released, what can never be."""
