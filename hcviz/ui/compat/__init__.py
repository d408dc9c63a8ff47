"""Repairs of Panel and Bokeh that need their internals; ``tests/test_compat.py`` holds each."""
