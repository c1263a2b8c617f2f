"""The turn ledger: what was accepted is never lost."""
