"""The foot of the page: status sentence and steps of undo and redo."""
