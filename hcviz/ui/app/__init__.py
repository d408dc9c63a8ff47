"""What opens and closes: the page, the server, the frame, and the parts connected."""
