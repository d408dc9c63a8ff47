"""Compare three items, and the sheet about all comparisons."""
