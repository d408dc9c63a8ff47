"""The form that saves the tree as a picture of a stated size."""
