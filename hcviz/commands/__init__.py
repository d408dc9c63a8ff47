"""The commands of :mod:`hcviz.cli`, one module each, and the functions that they share."""
