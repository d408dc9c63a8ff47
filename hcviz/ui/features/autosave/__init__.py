"""Keep the session on the server, and offer it again."""
