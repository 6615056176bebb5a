"""Faults of retries: RTY-001 to RTY-009."""
