"""Faults of budgets: BUD-001 to BUD-008."""
