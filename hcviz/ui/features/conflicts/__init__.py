"""The card of a conflict between constraints."""
