"""Limits on the size that a compressed file unpacks to, so that a small file cannot fill memory."""

from __future__ import annotations

import io
import zipfile

#: Any file may unpack to this many bytes (100,000 rows of 50 numbers with names).
FREE = 48 * 2**20
#: A file may also unpack to this many times its own size. A float64 array of zeros with one 1 in
#: a hundred cells reaches 240; deflate cannot exceed 1,032.
RATIO = 300


def max_unpacked_bytes(packed: int, free: int = FREE, ratio: int = RATIO) -> int:
    """Return the number of bytes that a file of ``packed`` bytes may unpack to."""
    return max(free, ratio * packed)


def unpacked_size(content: bytes) -> int:
    """Return the size that a zip or Parquet file declares, or the size of any other file."""
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
    """Return 8 bytes per cell or the declared size, whichever is larger; 0 for a broken file."""
    import pyarrow.parquet as parquet  # slow to import, rarely needed

    try:
        meta = parquet.read_metadata(io.BytesIO(content))
        groups = range(meta.num_row_groups)
        stored = sum(meta.row_group(k).total_byte_size for k in groups)
        return max(8 * meta.num_rows * meta.num_columns, stored)
    except Exception:  # a broken file may raise anything; the reader refuses it later
        return 0


__all__ = ["FREE", "RATIO", "max_unpacked_bytes", "unpacked_size"]
