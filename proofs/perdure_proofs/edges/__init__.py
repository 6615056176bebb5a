"""Theorems about edges: which predicates exclude each other, and what fires."""
