"""Show how constraints depend on each other, and what each is worth."""
