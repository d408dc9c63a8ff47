"""``send``: hand all frames of a message to the socket at once.

Internals of Bokeh 3.9.2 (``Message.send`` in ``bokeh/protocol/message.py``): a message is a header,
metadata, content, and two frames for each array, and each frame is written on its own. Each write
releases the GIL, and the thread that serves the pages waits until it has the GIL again. With
thirty people at work that is a sixth of its time. :func:`write_messages_at_once` replaces it.

Internals of Tornado 6.6 (``WebSocketProtocol13``): ``stream``, ``_write_frame``, ``_compressor``.
Messages of a connection that compresses, and those of clients, are sent by Bokeh's own method.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from bokeh.protocol.message import Message
from bokeh.server.views.ws import WSHandler
from tornado.websocket import WebSocketClosedError, WebSocketProtocol13

#: Bokeh's own method, which writes each frame on its own; also if this module is loaded again.
bokeh_send = getattr(Message.send, "replaced", Message.send)
_TEXT, _BINARY = 0x1, 0x2  # kinds of frames


class _Frames:
    """Stands in for the stream of a connection, and collects what is written."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, frame: bytes) -> None:
        """Keep a frame."""
        self.written.append(frame)


def _parts(message: Message[Any]) -> Iterator[tuple[int, bytes]]:
    """Yield the kind and the content of each frame."""
    for text in (message.header_json, message.metadata_json, message.content_json):
        yield _TEXT, text.encode()
    for buffer in message.buffers:
        yield _TEXT, json.dumps(buffer.ref).encode()
        yield _BINARY, buffer.to_bytes()


async def send(message: Message[Any], connection: Any) -> int:
    """Do what ``Message.send`` does, with one write.

    Returns
    -------
    int
        The number of bytes of the frames' contents.

    Raises
    ------
    WebSocketClosedError
        If the connection is closed.
    """
    protocol = connection.ws_connection if isinstance(connection, WSHandler) else None
    if not isinstance(protocol, WebSocketProtocol13) or protocol._compressor is not None:
        return await bokeh_send(message, connection)
    with await connection.write_lock.acquire():
        if protocol.is_closing():
            raise WebSocketClosedError
        frames, sent = _Frames(), 0
        stream, protocol.stream = protocol.stream, frames  # type: ignore[assignment]
        try:
            for kind, content in _parts(message):
                protocol._write_frame(True, kind, content)
                sent += len(content)
        finally:
            protocol.stream = stream
        try:
            await stream.write(b"".join(frames.written))
        except OSError:  # tornado's StreamClosedError
            raise WebSocketClosedError from None
    return sent


send.replaced = bokeh_send  # type: ignore[attr-defined]


def write_messages_at_once() -> None:
    """Replace the method of all messages of this process."""
    Message.send = send  # type: ignore[method-assign,assignment]


__all__ = ["bokeh_send", "send", "write_messages_at_once"]
