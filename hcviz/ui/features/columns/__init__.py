"""Sheet *Columns*: what was detected in a table, and how each column is used."""
