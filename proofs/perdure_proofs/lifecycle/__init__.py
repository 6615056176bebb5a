"""Theorems about the lifecycle of a node: its table, its outcomes, its cancellation."""
