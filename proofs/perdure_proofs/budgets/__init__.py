"""Theorems about budgets: what a run may use up, and that it ends."""
