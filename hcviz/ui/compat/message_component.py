"""``MessageComponent``: a component that sends messages to Python and sets no properties.

Internals of Panel 1.9.4 (``panel/custom.py``, class ``ReactiveESM``):

- ``_linked_properties`` names what the browser may set. Panel treats changes of these that Python
  made, and Bokeh held back, as changes made by the browser.
- ``_get_properties`` returns the properties ``esm`` and ``bundle`` of the Bokeh model. The browser
  translates a script from TypeScript unless ``bundle`` is the digest of ``esm``. The translation
  takes a tenth of the time until the page is drawn.
- ``_update_properties`` looks up the design's style sheets in the file system at every change,
  though only a change of style sheets needs them.
- ``_patch_datamodel_ref`` tags data models with their component. At every change it searches all
  models below a component. For the page's frame these are all models of the page, and the search
  takes most of an update's time.
- ``_process_param_change`` returns the properties to set, and ``_update_model`` sets them. For each
  it searches the old and the new value for models, down to the last number, and looks for similar
  names of properties. So a :class:`PlainJson` is sent as text, and is only set.
"""

from __future__ import annotations

import hashlib
import json
import math
from functools import cache
from typing import Any

import param
from bokeh.document import Document
from bokeh.model import Model
from panel.custom import JSComponent
from param.parameterized import Event


class PlainJson(param.Dict):  # type: ignore[type-arg]
    """A parameter for plain JSON. The browser gets it as text."""


def json_text(value: Any) -> str:
    """Return JSON for the browser: numbers that JSON cannot express become null."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), separators=(",", ":"), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@cache
def _texts(component: type[MessageComponent]) -> frozenset[str]:
    """Return the names of the parameters that are sent as text."""
    known = component.param.objects("existing")
    return frozenset(name for name, each in known.items() if isinstance(each, PlainJson))


class MessageComponent(JSComponent):
    """A component in plain JavaScript; the browser sends messages and sets no properties."""

    @property
    def _linked_properties(self) -> tuple[str, ...]:
        """Return nothing: the browser sets no properties."""
        return ()

    def _get_properties(self, doc: Document | None) -> dict[str, Any]:
        """Mark the script as one that need not be translated."""
        properties: dict[str, Any] = super()._get_properties(doc)
        properties["bundle"] = hashlib.sha256(properties["esm"].encode()).hexdigest()
        return properties

    def _update_properties(self, *events: Event, doc: Document) -> dict[str, Any]:
        """Leave the design out unless the style sheets change."""
        if any(event.name == "stylesheets" for event in events):
            with_design: dict[str, Any] = super()._update_properties(*events, doc=doc)
            return with_design
        changed: dict[str, Any] = self._process_param_change({e.name: e.new for e in events})
        return changed

    def _process_param_change(self, params: dict[str, Any]) -> dict[str, Any]:
        """Turn plain JSON into text."""
        texts = {name: json_text(params[name]) for name in _texts(type(self)) & params.keys()}
        properties: dict[str, Any] = super()._process_param_change(params | texts)
        return properties

    def _update_model(
        self,
        events: dict[str, Event],
        msg: dict[str, Any],
        root: Model,
        model: Model,
        doc: Document,
        comm: Any,
    ) -> None:
        """Set texts without a search for models in them."""
        if msg.keys() <= _texts(type(self)):
            model.data.update(**msg)  # type: ignore[attr-defined]
        else:
            super()._update_model(events, msg, root, model, doc, comm)


class MessageFrame(MessageComponent):
    """A component that contains the components of a whole page."""

    @classmethod
    def _patch_datamodel_ref(cls, props: Any, ref: str) -> None:
        """Tag the component's own data only; the components in it tag theirs."""
        tag = f"__ref:{ref}"
        if tag not in props.tags:
            props.tags.append(tag)


__all__ = ["MessageComponent", "MessageFrame", "PlainJson", "json_text"]
