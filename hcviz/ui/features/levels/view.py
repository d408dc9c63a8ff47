"""The script and style of the row of levels, which the tools and the inspector use."""

from __future__ import annotations

from pathlib import Path

LEVELS_ROW = Path(__file__).with_name("row")
