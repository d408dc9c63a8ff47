"""How much a compressed file may unpack to: a file of a few kilobytes must not fill the memory."""

from __future__ import annotations

import io
import zipfile

#: A file may unpack to so many bytes (100,000 rows of 50 numbers with names), or to so many times
#: its own size. Zeros with one in a hundred ones, as float64, reach 240 times; deflate ends at
#: 1,032 times.
FREE = 48 * 2**20
RATIO = 300


def most_unpacked(packed: int, free: int = FREE, ratio: int = RATIO) -> int:
    """The bytes that ``packed`` bytes may unpack to."""
    return max(free, ratio * packed)


def unpacked_size(content: bytes) -> int:
    """The bytes that a zip archive or a Parquet file says it unpacks to; of any other file its own
    size."""
    if content.startswith(b"PAR1"):
        return max(len(content), _parquet_size(content))
    if not content.startswith(b"PK\x03\x04"):
        return len(content)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return max(len(content), sum(each.file_size for each in archive.infolist()))
    except (zipfile.BadZipFile, ValueError, OSError, RuntimeError):
        return len(content)


def _parquet_size(content: bytes) -> int:
    """Of a Parquet file: eight bytes a cell, or what it says its columns take; 0 if it is none."""
    import pyarrow.parquet as parquet  # slow to import, and seldom needed

    try:
        meta = parquet.read_metadata(io.BytesIO(content))
        groups = range(meta.num_row_groups)
        stored = sum(meta.row_group(k).total_byte_size for k in groups)
        return max(8 * meta.num_rows * meta.num_columns, stored)
    except Exception:  # a broken file may raise anything here; the reader refuses it later
        return 0


__all__ = ["FREE", "RATIO", "most_unpacked", "unpacked_size"]
