"""``ProgressBar``: tqdm's bar where it is installed, else a line that is rewritten."""

from __future__ import annotations

import sys
import time
from typing import Any


class ProgressBar:
    """Progress on stderr, or as a widget in a notebook, with an estimate of the time left.

    Parameters
    ----------
    title : str
        What is in progress.
    """

    def __init__(self, title: str) -> None:
        self._title, self._began = title, time.perf_counter()
        self._bar: Any = None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self._bar = tqdm(desc=title, unit=" steps", unit_scale=True, total=0)

    def update(self, done: int, total: int, text: str = "") -> None:
        """Show ``done`` of ``total`` steps, and a text. The total may be an estimate."""
        total = max(done, total)
        if self._bar is not None:
            self._bar.total, self._bar.n = total, done
            self._bar.set_postfix_str(text)
            return
        seconds = time.perf_counter() - self._began
        left = f", about {seconds * (total - done) / done:.0f} s left" if done else ""
        words = f"{self._title}: {done:,} of {total:,} steps, {text}".rstrip(", ")
        sys.stderr.write(f"\r{words}, {seconds:.0f} s{left}\x1b[K")
        sys.stderr.flush()

    def close(self) -> None:
        """End the line."""
        if self._bar is not None:
            self._bar.close()
        else:
            sys.stderr.write("\n")


__all__ = ["ProgressBar"]
