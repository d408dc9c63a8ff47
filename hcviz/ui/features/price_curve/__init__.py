"""How the price of soft constraints (lambda) changes the tree."""
