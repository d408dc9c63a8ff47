"""The papers' figures and tables, computed anew: ``hcviz reproduce NAME``."""
