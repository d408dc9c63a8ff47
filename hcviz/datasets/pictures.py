"""Small pictures of items, as PNG bytes."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
from PIL import Image

from hcviz.core.errors import InvalidData

#: The longer side of a thumbnail, in pixels.
THUMBNAIL = 96
#: Larger pictures are not opened: a small file can unfold into a very large one.
MAX_PIXELS = 30_000_000
#: So does one with more pixels than these for each of its bytes, unless it is small.
PIXELS_PER_BYTE, SMALL = 500, 512 * 512
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")


def ink_png(pixels: Any, zoom: int = 6) -> bytes:
    """Ink on paper: ``pixels`` (h, w) from 0 (paper) to 1 (ink), each made ``zoom`` pixels wide."""
    grey = np.round(255 * (1 - np.clip(pixels, 0, 1))).astype(np.uint8)
    picture = Image.fromarray(np.kron(grey, np.ones((zoom, zoom), np.uint8)))
    return _as_png(picture)


def thumbnail(content: bytes, size: int = THUMBNAIL) -> bytes:
    """Any common picture, redrawn as a PNG of at most ``size`` pixels a side.

    Redrawing keeps the page light, and nothing but pixels of a stranger's file reaches it.
    Raises :class:`InvalidData` for what is no PNG, JPEG, GIF, WebP or BMP, or is too large.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns of odd metadata; we keep none
            with Image.open(io.BytesIO(content), formats=_FORMATS) as picture:
                most = min(MAX_PIXELS, max(SMALL, PIXELS_PER_BYTE * len(content)))
                if picture.width * picture.height > most:
                    raise InvalidData(
                        f"The picture has {picture.width} x {picture.height} pixels; {most:,} is "
                        f"the limit for {len(content):,} bytes."
                    )
                picture.draft("RGB", (2 * size, 2 * size))
                picture.thumbnail((size, size))
                return _as_png(picture.convert("RGBA"))
    except InvalidData:
        raise
    except Exception:  # Pillow's decoders raise whatever a broken file makes them raise
        raise InvalidData(
            "The picture cannot be read.", "Use PNG, JPEG, GIF, WebP or BMP."
        ) from None


def _as_png(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()
