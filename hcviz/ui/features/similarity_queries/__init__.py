"""Which similarities a method asked for."""
