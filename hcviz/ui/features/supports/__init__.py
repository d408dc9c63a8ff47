"""Supports of clades, their accuracy, and what an answer changed."""
