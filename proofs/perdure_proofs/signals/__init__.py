"""Theorems about signals: their identities, and the waits that they resolve."""
