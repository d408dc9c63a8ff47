"""State constraints, list them, switch them."""
