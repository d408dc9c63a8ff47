"""How constraints depend on each other, and which are useful."""
