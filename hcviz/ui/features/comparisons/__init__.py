"""Ask which of three items is central or the odd one out."""
