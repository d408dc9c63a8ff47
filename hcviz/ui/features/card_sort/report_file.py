"""The report of the card sort on the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.piles import pile_similarity
from hcviz.ui.features.card_sort import model
from hcviz.ui.features.card_sort.report import card_sort_report
from hcviz.ui.state.store import Store


def save_card_sort_report(store: Store, picture_data: Mapping[str, Any]) -> str:
    """Return the report as HTML, with the picture that the page shows.

    Raises
    ------
    HcvizError
        If the data are no card sort, or the agreement is not computed yet.
    """
    from hcviz.io.picture import draw_picture  # importing matplotlib takes a second

    state = model.state(store)
    if not state:
        raise HcvizError("No card sort is open.", "Open one from the menu File.")
    if state["waiting"]:
        raise HcvizError("The agreement is still being computed.", "Save again in a moment.")
    piles, labels = store.problem.piles, store.session.labels
    return card_sort_report(
        state,
        draw_picture(**picture_data, format="svg"),
        get_algorithm(store.session.method).title,
        pile_similarity(piles, len(labels))[0],
        labels,
        np.asarray(picture_data["order"]).tolist(),
    )


__all__ = ["save_card_sort_report"]
