"""Faults of cancellation: CAN-001 to CAN-004."""
