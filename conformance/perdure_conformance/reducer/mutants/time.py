"""Faults of time: TIM-001 to TIM-011."""
