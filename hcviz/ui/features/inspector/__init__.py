"""Facts of the selected items and of the shown tree."""
