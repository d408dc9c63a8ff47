"""The script and style of the form in the File menu that saves a picture."""

from __future__ import annotations

from pathlib import Path

PICTURE_FORM = Path(__file__).with_name("form")
