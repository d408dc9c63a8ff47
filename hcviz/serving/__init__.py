"""Several server processes behind one address, for ``hcviz serve --processes``."""
