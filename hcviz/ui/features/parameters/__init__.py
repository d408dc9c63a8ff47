"""The form of the method's parameters."""
