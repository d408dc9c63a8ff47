"""Ask the person about a subtree."""
