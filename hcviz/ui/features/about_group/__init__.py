"""What makes the selected group: its features, typical items, similarities and names."""

from pathlib import Path

#: The script and style that the inspector draws this with.
ABOUT = Path(__file__).with_name("about")

__all__ = ["ABOUT"]
