"""State of the form: the parameters of the method as fields, and how typed text is read."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np
import param

from hcviz import datasets
from hcviz.algorithms import get as get_algorithm
from hcviz.algorithms.parameter_values import parameter_doc
from hcviz.core.errors import HcvizError
from hcviz.session import actions as act
from hcviz.ui.features.parameters.field_fault import FieldFault
from hcviz.ui.state.store import Store

#: Characters of a field that are read as a number or a list, at most. This is enough for a sigma
#: for each of 4,000 columns.
MAX_FIELD_LENGTH = 100_000


def state(store: Store) -> dict[str, Any]:
    """Return the parameters as switches, choices and text fields, with their docs and errors."""
    session, data = store.session, store.dataset
    method = get_algorithm(session.method)
    values = method.parameters(**session.params)
    refused = {each.name: each for each in store.view.faults if each.applies(session)}
    fields: list[dict[str, Any]] = []
    for name in method.parameter_names():
        parameter, value = values.param[name], getattr(values, name)
        title = parameter.label or name
        field: dict[str, Any] = {
            "name": name,
            "title": title if len(title) > 1 else name,  # a one-letter name keeps its case
            "doc": parameter_doc(parameter),
        }
        if isinstance(parameter, param.Boolean):
            field |= {"kind": "switch", "value": bool(value)}
        elif isinstance(parameter, param.Selector):
            field |= {"kind": "choice", "value": str(value)}
            field["options"] = [[str(x), title] for title, x in parameter.get_range().items()]
        else:
            field |= {"kind": "text", "value": field_text(value)}
            field["placeholder"] = "none" if parameter.default is None else str(parameter.default)
        if name in refused:
            field |= {"value": refused[name].typed, "error": refused[name].sentence}
        elif fault := _refused_by_the_run(store, name):
            field |= {"error": fault}
        fields.append(field)
    prepared = [_data_choice("scaling", "Scaling", session.data.scaling, datasets.SCALINGS)]
    if data is not None and data.n_missing:
        cells = f"Missing ({data.n_missing})"
        prepared.append(_data_choice("missing", cells, session.data.missing, datasets.MISSING))
    if data is None or data.features is None:
        prepared = []
    about = method.summary or method.title
    if method.paper:
        about += f" ({method.paper})"
    if data is not None:  # the heatmap may show another comparison
        compared = method.info(store.problem, session.params).compared
        about += f" Compared: {compared}." if compared else ""
    return {
        "fields": fields,
        "data": prepared,
        "about": about,
        "how": method.how_it_works,
        "place": place_sentence(store),
    }


def field_text(value: Any) -> str:
    """Return a value as a person types it: "" for None, simple lists without brackets."""
    if value is None:
        return ""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)) and len(value) > 1 and all(map(_plain, value)):
        return ", ".join(map(str, value))
    return str(value)


def _plain(part: Any) -> bool:
    """Return True if a part of a list keeps its value when ``a, b, c`` is read back."""
    if isinstance(part, str):
        return bool(re.fullmatch(r"[^\W\d][\w .-]*\w|[^\W\d]", part))
    return isinstance(part, (int, float)) and not isinstance(part, bool)


def place_sentence(store: Store) -> str:
    """Return a sentence about where runs are computed, "" without a cluster."""
    known = store.view.place
    if known is None:
        return ""
    if known.fault is None:
        return f"Runs are computed on the cluster at {known.address}."
    return f"Runs are computed on this machine. {known.fault.message}"


def _refused_by_the_run(store: Store, name: str) -> str:
    """Return the error of a failed run if its hint names this parameter as ``name=``."""
    error = store.session.error if store.session.status == "failed" else None
    if not error or not re.search(rf"\b{re.escape(name)}=", error[1]):
        return ""
    return " ".join(error).removeprefix(f"{store.session.method}: ")


def _data_choice(name: str, title: str, value: str, known: Any) -> dict[str, Any]:
    return {
        "name": f"data:{name}",
        "title": title,
        "kind": "choice",
        "value": value,
        "options": [[kind, text] for kind, (text, _) in known.items()],
        "doc": "How the features are prepared for the method.",
    }


def parse_field(text: Any) -> Any:
    """Return the value of typed text: a number, a list, a Boolean, None (or ""), else the text."""
    if not isinstance(text, str):
        return text
    if not text.strip() or text.strip().lower() == "none":
        return None
    if len(text) > MAX_FIELD_LENGTH:
        return text.strip()
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):  # "(((((...", "-----..."
        return text.strip()


def set_field(store: Store, name: str, text: Any) -> None:
    """Set a parameter from typed text; if it is refused, show the error beside the field.

    A parameter whose new value is refused keeps its old one.
    """
    session = store.session
    method = get_algorithm(session.method)
    faults = tuple(each for each in store.view.faults if each.name != name)
    value = parse_field(text)
    try:
        method.parameters(**{**session.params, name: value})
    except HcvizError as fault:
        reason = fault.message.removeprefix(f"{method.name}: ")
        reason = reason if len(reason) <= 300 else f"{reason[:299]}…"
        kept = session.params.get(name)
        store.change_view(faults=(*faults, FieldFault(name, str(text), kept, reason)))
        return
    store.change_view(faults=faults)
    store.dispatch(act.SetParams({name: value}))


def depends_on(store: Store) -> Any:
    """Return what the form depends on."""
    session, view = store.session, store.view
    return (
        session.data,
        session.method,
        session.params,
        session.comparisons,
        store.dataset,
        view.faults,
        view.place,
        session.error,
        session.status == "failed",
    )
