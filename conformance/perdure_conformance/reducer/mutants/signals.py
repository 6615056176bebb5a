"""Faults of signals: SIG-001 to SIG-010."""
