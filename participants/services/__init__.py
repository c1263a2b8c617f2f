"""Services: they have no model of their own and work for others."""
