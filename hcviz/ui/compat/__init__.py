"""What depends on the internals of Panel and Bokeh, each with a contract test."""
