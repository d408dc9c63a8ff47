"""``Items``: what the tree and the heatmap show. ``Pick``: what is under the pointer."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hcviz.core.errors import InvalidData
from hcviz.core.text import show_bidi, show_bidi_in_all

#: With more classes the rarest ones share the last code, named "other".
MAX_CLASSES = 250


@dataclass(frozen=True)
class Pick:
    """The leaves under the pointer, and its place: x in heights, y in rows, downward."""

    leaves: tuple[int, ...]
    kind: Literal["leaf", "clade", "none"]
    x: float
    y: float
    shift: bool = False


@dataclass(frozen=True)
class Strip:
    """A column of classes beside the labels: a code for each item (255: none), and the names.

    ``colours`` has a colour for each name; empty for the usual ones. ``many`` is the
    word for several of them.
    """

    name: str
    codes: NDArray[np.uint8]
    names: tuple[str, ...]
    colours: tuple[str, ...] = ()
    many: str = "classes"


@dataclass(frozen=True, eq=False)
class Items:
    """The items of a data set, as the tree and the heatmap show them.

    Characters in labels and titles that reorder text are shown as their codes.

    Parameters
    ----------
    labels : n names
    features : float (n, d), NaN where missing, or None
    feature_names : d names
    classes : n class names (None: unknown), or several such columns by name, or None
    images : n PNG byte strings or data URIs (None: no image), or None
    similarity : float (n, n), or an oracle that computes what is drawn, or None
    similarity_name : its name in the legend. If this is not ``similarity`` and the values have both
        signs, 0 is the middle of the colours
    title : the title above the tree
    """

    labels: Sequence[str]
    features: Any = None
    feature_names: Sequence[str] | None = None
    classes: Any = None
    images: Sequence[Any] | None = None
    similarity: Any = None
    similarity_name: str = "similarity"
    title: str = ""

    def __post_init__(self) -> None:
        n = len(self.labels)
        object.__setattr__(self, "labels", show_bidi_in_all(self.labels))
        object.__setattr__(self, "title", show_bidi(self.title))
        for name, shape in (("features", (n,)), ("similarity", (n, n))):
            value = getattr(self, name)
            if name == "similarity" and hasattr(value, "similarity"):
                if value.n_items != n:
                    raise InvalidData(
                        f"The similarity is of {value.n_items} items, and there are {n}."
                    )
            elif value is not None and np.shape(value)[: len(shape)] != shape:
                raise InvalidData(
                    f"The {name} have shape {np.shape(value)}, and there are {n} items."
                )
        if self.images is not None and len(self.images) != n:
            raise InvalidData(f"There are {len(self.images)} images for {n} items.")

    @property
    def n(self) -> int:
        return len(self.labels)

    def columns(self) -> tuple[str, ...]:
        """Return the features' names, or numbers."""
        width = 0 if self.features is None else int(np.shape(self.features)[1])
        if self.feature_names is not None and len(self.feature_names) == width:
            return tuple(show_bidi(str(name)) for name in self.feature_names)
        return tuple(f"feature {k + 1}" for k in range(width))

    def strips(self) -> tuple[Strip, ...]:
        """Return the class columns as codes. Names are sorted, numbers by their value."""
        if self.classes is None:
            return ()
        sets = self.classes if isinstance(self.classes, Mapping) else {"class": self.classes}
        return tuple(_strip(str(name), values, self.n) for name, values in sets.items())

    def picture(self, item: int) -> str | None:
        """Return the item's thumbnail as a data URI; None without an image."""
        image = None if self.images is None else self.images[item]
        if image is None:
            return None
        if isinstance(image, str):
            return image if image.startswith("data:image/") else None
        return "data:image/png;base64," + base64.b64encode(image).decode()


def _strip(name: str, values: Any, n: int) -> Strip:
    raw = list(values)
    if len(raw) != n:
        raise InvalidData(f"There are {len(raw)} classes under '{name}' for {n} items.")
    texts = [None if _missing(value) else str(value) for value in raw]
    known = sorted({text for text in texts if text is not None}, key=_by_value)
    if len(known) > MAX_CLASSES:
        common = sorted(known, key=lambda text: -texts.count(text))[:MAX_CLASSES]
        known = [*sorted(common, key=_by_value), "other"]
    code = {text: k for k, text in enumerate(known)}
    other = code.get("other", 255)
    codes = np.array([255 if t is None else code.get(t, other) for t in texts], np.uint8)
    return Strip(show_bidi(name), codes, tuple(map(show_bidi, known)))


def _missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and value != value)


def _by_value(text: str) -> tuple[int, float, str]:
    try:
        return (0, float(text), text)
    except ValueError:
        return (1, 0.0, text)
