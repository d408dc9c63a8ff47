"""The lesson player: shows a lesson script step by step, in large type above the tree."""
