"""Named groups: the outline of the page's groups, and the field that names the selected items."""
