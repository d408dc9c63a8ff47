"""Open a page: its first data and its first run, as its link says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hcviz import datasets
from hcviz.algorithms import algorithms
from hcviz.algorithms import get as get_algorithm
from hcviz.core.errors import HcvizError
from hcviz.core.similarity import SIMILARITIES
from hcviz.session import actions as act
from hcviz.session.chosen_clusters import ChosenClusters, check_clusters
from hcviz.session.constraint import outsiders
from hcviz.session.model import Constraint, DataSpec, Group
from hcviz.ui.app.link import Link
from hcviz.ui.state.saved_look import LOOKS, looks
from hcviz.ui.state.store import Store


def open_page(
    store: Store, link: Link, spec: DataSpec | None = None, method: str | None = None
) -> None:
    """Open the data of a link and start its run.

    What is wrong in the link is replaced by the default, and the page shows the first such error.
    """
    faults: list[HcvizError] = []

    def checked(what: str, value: str | None, names: Iterable[str], default: str) -> str:
        if value is None or value in names:
            return value or default
        hint = f"Known: {', '.join(names)}."
        faults.append(HcvizError(f"The link's {what} {value!r} is not known.", hint))
        return default

    plain = DataSpec()
    spec = spec or DataSpec(
        kind="built-in",
        name=checked("data", link.data, datasets.names(everything=True), plain.name),
        similarity=checked("similarity", link.similarity, SIMILARITIES, plain.similarity),
        scaling=checked("scaling", link.scaling, datasets.SCALINGS, plain.scaling),
        missing=checked("missing", link.missing, datasets.MISSING, plain.missing),
    )
    found = get_algorithm(
        checked("method", link.method or method, algorithms(), store.session.method)
    )
    params = dict(link.params)
    try:
        found.parameters(**params)
    except HcvizError as fault:
        faults.append(fault)
        params = {}
    store.session = replace(
        store.session,
        method=found.name,
        constraint_mode=found.constraint_mode(params),
        params=act.read_only(params),
        seed=store.session.seed if link.seed is None else link.seed,
    )
    wanted: dict[str, Any] = {"scaling": link.heat, "clusters": link.clusters, "below": link.below}
    wanted |= {name: getattr(link, name) for name in LOOKS if name != "scaling"}
    if link.below is not None and link.below > 100:
        sentence = f"The link's below must be a whole number of per cent, not {link.below}."
        faults.append(HcvizError(sentence, "Supports are from 0 to 100."))
    for name, choices in LOOKS.items():
        wanted[name] = checked(name, wanted[name], choices, choices[0])
    if store.open_data(spec):
        n = len(store.session.labels)
        wanted["clusters"] = None if link.clusters is None else min(link.clusters, n)
        store.change_view(**looks(wanted))
        constraints: list[Constraint] = []
        for group, apart, enabled in link.constraints:
            try:
                last = max(*group, *outsiders(apart))
                if last >= n:
                    raise HcvizError(f"The link names item {last} of {n}.")
                if len(group) == n:
                    raise HcvizError(f"The link has a group of all {n} items: leave it out.")
                constraints.append(Constraint(0, group, apart, enabled=enabled, time=act.now()))
            except HcvizError as fault:
                faults.append(fault)
        if constraints:
            store.dispatch(act.ImportConstraints(tuple(constraints)))
        if link.groups:
            try:
                named = tuple(Group(name, items) for name, items in link.groups)
                store.dispatch(act.ReplaceGroups(named, f"{len(named):,} groups from the link."))
            except HcvizError as fault:
                faults.append(fault)
        if link.chosen:
            try:
                chosen = ChosenClusters(link.chosen)
                check_clusters(chosen, n)
                store.dispatch(act.ChooseClusters(chosen))
            except HcvizError as fault:
                faults.append(fault)
    if faults:
        store.change_view(error=(faults[0].message, faults[0].hint))
