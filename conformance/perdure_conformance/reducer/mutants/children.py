"""Faults of children: CHD-009 to CHD-014."""
