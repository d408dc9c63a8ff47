"""The presentation: the tree in large type, and one clade after the other in the accent colour."""
