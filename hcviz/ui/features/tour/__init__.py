"""The guided tour: eight steps for newcomers, each beside the part of the page that it explains."""
