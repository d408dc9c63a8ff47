"""The footer of the page: the status sentence, and the steps of undo and redo."""
