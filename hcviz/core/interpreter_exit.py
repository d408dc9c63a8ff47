"""What a thread meets when the interpreter ends before it does."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor


def is_interpreter_ending() -> bool:
    """Return True if the interpreter accepts no new tasks for threads, because it is ending.

    Examples
    --------
    >>> is_interpreter_ending()
    False
    """
    try:
        with ThreadPoolExecutor(1) as threads:
            threads.submit(int).result()
    except RuntimeError:
        return True
    return False


def log_fault(log: logging.Logger, fault: BaseException, message: str, *values: object) -> None:
    """Log an unexpected error with its traceback, unless the interpreter is ending.

    A daemon thread may still work when the process ends. It cannot start new tasks then, which is
    no bug, and its result is not needed.
    """
    ending = isinstance(fault, RuntimeError) and is_interpreter_ending()
    log.log(logging.DEBUG if ending else logging.ERROR, message, *values, exc_info=fault)


__all__ = ["is_interpreter_ending", "log_fault"]
