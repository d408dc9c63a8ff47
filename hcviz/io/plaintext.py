"""Text from a file's bytes."""

from __future__ import annotations

from hcviz.core.errors import HcvizError


def utf8_text(content: str | bytes, what: str, hint: str, error: type[HcvizError]) -> str:
    """The text, without a byte order mark.

    Raises ``error``: "WHAT is not UTF-8 text (byte 17).", and the hint.
    """
    if isinstance(content, str):
        return content.removeprefix("\ufeff")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise error(f"{what} is not UTF-8 text (byte {fault.start}).", hint) from None
