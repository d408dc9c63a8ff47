"""Thumbnails of items, as PNG bytes."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
from PIL import Image

from hcviz.core.errors import InvalidData

#: The longer side of a thumbnail, in pixels.
THUMBNAIL = 96
#: Pixels of a picture. A small file can decode to a very large picture.
MAX_PIXELS = 30_000_000
#: Pixels per byte of the file, for pictures with more than ``SMALL`` pixels.
PIXELS_PER_BYTE, SMALL = 500, 512 * 512
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")


def grayscale_png(pixels: Any, zoom: int = 6) -> bytes:
    """Return a PNG of ``pixels`` (h, w) from 0 (white) to 1 (black), enlarged ``zoom`` times."""
    grey = np.round(255 * (1 - np.clip(pixels, 0, 1))).astype(np.uint8)
    picture = Image.fromarray(np.kron(grey, np.ones((zoom, zoom), np.uint8)))
    return _as_png(picture)


def thumbnail(content: bytes) -> bytes:
    """Return a picture as a PNG of at most ``THUMBNAIL`` pixels per side.

    The page gets small files, and only pixels of an uploaded file.

    Raises
    ------
    InvalidData
        If the file is not PNG, JPEG, GIF, WebP or BMP, or is too large.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about metadata, which the PNG omits
            with Image.open(io.BytesIO(content), formats=_FORMATS) as picture:
                limit = min(MAX_PIXELS, max(SMALL, PIXELS_PER_BYTE * len(content)))
                if picture.width * picture.height > limit:
                    raise InvalidData(
                        f"The picture has {picture.width} x {picture.height} pixels; {limit:,} is "
                        f"the limit for {len(content):,} bytes."
                    )
                picture.draft("RGB", (2 * THUMBNAIL, 2 * THUMBNAIL))
                picture.thumbnail((THUMBNAIL, THUMBNAIL))
                return _as_png(picture.convert("RGBA"))
    except InvalidData:
        raise
    except Exception:  # Pillow raises many types for a broken file
        raise InvalidData(
            "The picture cannot be read.", "Use PNG, JPEG, GIF, WebP or BMP."
        ) from None


def _as_png(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()
