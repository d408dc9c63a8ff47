"""The data of the page for descriptions, and where descriptions are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from hcviz.core.cached_similarities import CachedSimilarities
from hcviz.core.errors import HcvizError
from hcviz.core.problem import Problem
from hcviz.datasets import Dataset
from hcviz.description.card_sort import named_piles
from hcviz.description.columns import Columns
from hcviz.description.item_data import ItemData, is_cheap
from hcviz.description.similarities import GroupSimilarities
from hcviz.ui.state.data_sources import similarity_to_show
from hcviz.ui.state.store import Store

#: Descriptions of at most this many items and cells are computed at once, in some 5 ms.
ITEMS_AT_ONCE, CELLS_AT_ONCE = 600, 60_000

#: For each store: the data set, the problem and the merged names of piles, the ``ItemData`` of
#: these, and its number. No two have the same number.
_item_data: WeakKeyDictionary[Store, tuple[Dataset, Problem, Any, ItemData, int]] = (
    WeakKeyDictionary()
)
_numbers = count()
_results: WeakKeyDictionary[Store, dict[str, tuple[bytes, Any]]] = WeakKeyDictionary()


def item_data(store: Store, dataset: Dataset) -> tuple[ItemData, int]:
    """Return labels, columns, similarities and piles of the page's data, and a number for keys."""
    problem, names = store.problem, store.session.pile_names
    cached = _item_data.get(store)
    if cached is not None and cached[0] is dataset and cached[1] is problem and cached[2] == names:
        return cached[3:]
    source = similarity_to_show(problem)[1]
    matrix = issparse(source) or isinstance(source, np.ndarray)
    usable = matrix or is_cheap(source) or isinstance(source, CachedSimilarities)
    similarities = GroupSimilarities(source if usable else None)
    made = ItemData(
        dataset.labels, Columns.of(dataset), similarities, named_piles(problem.piles, names)
    )
    _item_data[store] = (dataset, problem, names, made, next(_numbers))
    return _item_data[store][3:]


def computed(store: Store, topic: str, key: bytes, work: Callable[[], Any]) -> Any:
    """Return ``work()``: the last result of the topic if it has the same key.

    For large data it is computed in the background. This is None until the result is there.
    """
    last = _results.setdefault(store, {})
    if topic not in last or last[topic][0] != key:
        found = work() if _is_small(store) else computed_in_background(store, topic, key, work)
        if found is None:
            return None
        last[topic] = (key, found)
    return last[topic][1]


def computed_in_background(store: Store, topic: str, key: bytes, work: Callable[[], Any]) -> Any:
    """Return ``work()``, computed in the background; None until then, or if it fails."""
    full_key = (topic, key)
    found = store.compute_cache.ask(topic, {full_key: work}).get(full_key)
    return None if isinstance(found, HcvizError) else found


def digest(*parts: ArrayLike | str | Iterable[int]) -> bytes:
    """Return a short key of item sets and texts."""
    found = blake2b(digest_size=16)
    for part in parts:
        data = part.encode(errors="surrogatepass") if isinstance(part, str) else _bytes(part)
        found.update(len(data).to_bytes(8, "little") + data)
    return found.digest()


def _bytes(items: Any) -> bytes:
    numbers: NDArray[np.int64] = np.asarray(items, np.int64)
    return numbers.tobytes()


def _is_small(store: Store) -> bool:
    data = store.dataset
    assert data is not None
    width = 0 if data.features is None else data.features.shape[1]
    return data.n_items <= ITEMS_AT_ONCE and data.n_items * width <= CELLS_AT_ONCE


__all__ = ["computed", "computed_in_background", "digest", "item_data"]
