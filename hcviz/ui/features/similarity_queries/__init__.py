"""Which similarities a method queried."""
