"""Theorems about retries: how many attempts there are, and how long is waited between them."""
