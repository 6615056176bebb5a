"""Theorems about virtual time: the clock, deadlines, and what is due."""
