"""The inspector: facts about the selected items and the tree."""
