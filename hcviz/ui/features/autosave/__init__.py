"""Save unfinished sessions on the server, and offer to resume them."""
