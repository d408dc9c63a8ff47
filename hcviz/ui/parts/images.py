"""Images of items as data URIs."""

from __future__ import annotations

import base64
from typing import Any


def as_uri(image: Any) -> str:
    """Return PNG bytes as a data URI; a data URI is returned unchanged."""
    if isinstance(image, bytes):
        return "data:image/png;base64," + base64.b64encode(image).decode()
    return str(image)
