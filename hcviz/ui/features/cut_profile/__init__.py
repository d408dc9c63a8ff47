"""Possible cuts of the selected clade."""
