"""Theorems about the journal: what is stored, who may store, what a crash leaves, what a snapshot saves."""
