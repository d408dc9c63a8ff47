"""Reproductions of papers' figures and tables, for the command ``hcviz reproduce NAME``."""
