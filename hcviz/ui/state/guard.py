"""``Guard``: turns an exception into the error that the page shows."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from hcviz.core.errors import HcvizError

log = logging.getLogger("hcviz")

#: The error that the page shows for a bug.
UNEXPECTED = (
    "Something unexpected went wrong.",
    "Nothing was lost; the details are in the server's log.",
)


class Guard:
    """Calls ``show((message, hint))`` for an exception. An unexpected one is logged as well."""

    def __init__(self, show: Callable[[tuple[str, str]], None]) -> None:
        self._show = show
        self.fault: BaseException | None = None

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, kind: Any, fault: BaseException | None, trace: Any) -> bool:
        if fault is None or not isinstance(fault, Exception):
            return False
        self.fault = fault
        error = UNEXPECTED
        if isinstance(fault, HcvizError):
            error = (fault.message, fault.hint)
        else:
            log.error("unexpected error", exc_info=(kind, fault, trace))
        self._show(error)
        return True


__all__ = ["UNEXPECTED", "Guard"]
