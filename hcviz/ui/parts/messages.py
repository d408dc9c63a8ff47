"""``Acts``: the messages that the browser sends to a part, defined once and checked on both sides.

A handler is a function with the name of its message, and its typed parameters are the message's
fields::

    ACTS = Acts()

    @ACTS.on("pick")
    def _pick(actions: Actions, items: Sequence[int]) -> None: ...

``ACTS(actions, "pick", {"items": [3, 4]})`` checks the fields and calls the handler. The browser
gets ``ACTS.schema()``. ``checkMessage`` of ``messages.js`` checks each message before it is sent.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar, get_type_hints

from hcviz.core.errors import HcvizError

Handler = TypeVar("Handler", bound=Callable[..., None])

log = logging.getLogger("hcviz")

#: How the schema names the types of fields. A name that ends in "?" is of an optional field.
KINDS: dict[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "yes or no",
    Sequence[int]: "whole numbers",
    Any: "anything",
}

#: A message's fields and their kinds.
Fields = dict[str, str]


class BadMessage(HcvizError):
    """A message that is not in the schema. The page never sends one."""


class Acts:
    """The messages of one part, each with its handler.

    Parameters
    ----------
    *others : Acts
        Messages that several parts have. This part has them too, with the same handlers.
    """

    def __init__(self, *others: Acts) -> None:
        self._handlers: dict[str, Callable[..., None]] = {}
        self._fields: dict[str, Fields] = {}
        for other in others:
            self._handlers |= other._handlers
            self._fields |= other._fields

    def on(self, *names: str) -> Callable[[Handler], Handler]:
        """Make the decorated function the handler of the messages ``names``.

        Its first parameter is the object that the messages are for. The others are the fields; one
        with a default is optional. A handler of several messages has the parameter ``act``, which
        is the name of the message and no field.
        """

        def register(handler: Handler) -> Handler:
            fields = fields_of(handler)
            for name in names:
                if name in self._handlers:
                    raise ValueError(f"The message {name!r} has two handlers.")
                self._handlers[name], self._fields[name] = handler, fields
            return handler

        return register

    def __call__(self, target: Any, act: str, fields: Mapping[str, Any]) -> None:
        """Check a message and call its handler.

        Raises
        ------
        BadMessage
            If the message or one of its fields is not in the schema, or is of another type.
        """
        _check(self._fields, act, fields)
        handler = self._handlers[act]
        named = {"act": act} if "act" in inspect.signature(handler).parameters else {}
        kinds = self._fields[act]
        # JavaScript sends 1.0 as 1.
        values = {
            name: float(value) if kinds[name].startswith("number") else value
            for name, value in fields.items()
        }
        handler(target, **values, **named)

    def __contains__(self, act: str) -> bool:
        return act in self._handlers

    def schema(self) -> dict[str, Fields]:
        """Return the fields of each message, as plain JSON."""
        return {name: dict(fields) for name, fields in self._fields.items()}


@contextmanager
def logged() -> Iterator[None]:
    """Log a message that is refused, rather than raise :class:`BadMessage`."""
    try:
        yield
    except BadMessage as fault:
        log.warning("The browser sent a message that is refused: %s", fault)


def fields_of(handler: Callable[..., None]) -> Fields:
    """Return the fields of a handler's message, from its parameters."""
    hints = get_type_hints(handler)
    found: Fields = {}
    for parameter in list(inspect.signature(handler).parameters.values())[1:]:
        if parameter.name == "act":
            continue
        optional = "" if parameter.default is inspect.Parameter.empty else "?"
        found[parameter.name] = KINDS[hints[parameter.name]] + optional
    return found


def _check(schema: Mapping[str, Fields], act: str, given: Mapping[str, Any]) -> None:
    """Raise :class:`BadMessage` unless the message ``act`` and its fields are in the schema."""
    fields = schema.get(act)
    if fields is None:
        raise BadMessage(f"There is no message {act!r}.")
    for name in given:
        if name not in fields:
            raise BadMessage(f"The message {act!r} has no field {name!r}.")
    for name, kind in fields.items():
        if name not in given:
            if not kind.endswith("?"):
                raise BadMessage(f"The message {act!r} needs the field {name!r}.")
        elif not _fits(given[name], kind.removesuffix("?")):
            raise BadMessage(f"{name!r} of the message {act!r} must be {kind}.")


def _fits(value: Any, kind: str) -> bool:
    if kind == "anything":
        return True
    if kind == "whole numbers":
        return isinstance(value, list | tuple) and all(_fits(x, "whole number") for x in value)
    if isinstance(value, bool):
        return kind == "yes or no"
    if kind == "number":
        return isinstance(value, int | float)
    return (kind == "text" and isinstance(value, str)) or (
        kind == "whole number" and isinstance(value, int)
    )


class Controls:
    """Base of what handles the messages of one part: a subclass has ``ACTS``."""

    ACTS: ClassVar[Acts]

    def act(self, name: str, fields: Mapping[str, Any]) -> None:
        """Handle a message."""
        self.ACTS(self, name, fields)

    @classmethod
    def schema(cls) -> dict[str, Fields]:
        """Return the fields of each message."""
        return cls.ACTS.schema()


__all__ = ["KINDS", "Acts", "BadMessage", "Controls", "logged"]
